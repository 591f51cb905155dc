/** What a scan found: how often, where, a few examples, what it means and what to do. */
import type { AuditEvent } from '../../core/audit.js'

export interface ScanFinding {
  readonly level: 'error' | 'warning'
  readonly code: ScanCode
  readonly tenant: string
  readonly scope: string
  readonly count: number
  readonly message: string
  readonly remedy: string
  readonly examples: readonly Readonly<Record<string, string | number>>[]
}

export type ScanCode =
  | 'same-arguments-new-key'
  | 'effect-pair'
  | 'executed-after-window'
  | 'window-near-retry'
  | 'finished-late'
  | 'duplicate-burst'
  | 'key-reused'
  | 'field-differs-between-retries'
  | 'field-differs-under-one-key'

export interface Detector {
  see(event: AuditEvent): void
  findings(): readonly ScanFinding[]
}

const MOST_EXAMPLES = 5

/** Collects equal findings of one scope. */
export function createTally(code: ScanCode, level: ScanFinding['level']) {
  const groups = new Map<
    string,
    { tenant: string; scope: string; count: number; examples: ScanFinding['examples'][number][] }
  >()
  return {
    add(
      { tenant, scope }: { readonly tenant: string; readonly scope: string },
      example: ScanFinding['examples'][number],
      count = 1,
    ): void {
      const id = JSON.stringify([tenant, scope])
      const group = groups.get(id) ?? { tenant, scope, count: 0, examples: [] }
      group.count += count
      if (group.examples.length < MOST_EXAMPLES) group.examples.push(example)
      groups.set(id, group)
    },
    findings(
      say: (group: {
        readonly scope: string
        readonly count: number
      }) => Pick<ScanFinding, 'message' | 'remedy'>,
    ): readonly ScanFinding[] {
      return Array.from(groups.values(), (group) => ({ level, code, ...group, ...say(group) }))
    },
  }
}

/**
 * Canonicalisation faults, from recorded calls. Too much counts: a field differs between retries of one step, so
 * that they are not the same to a receipt. Too little counts: a field differs between calls that shared a key.
 */
import { canonicalJson } from '../../key/index.js'
import type { RecordedCall } from './calls.js'
import type { ScanCode, ScanFinding } from './finding.js'

interface Group {
  readonly first: RecordedCall
  calls: number
}

interface Differing {
  readonly tenant: string
  readonly scope: string
  readonly field: string
  count: number
  readonly examples: ScanFinding['examples'][number][]
}

/** What a person, and not a model, decides about: leaving it out would make two intents one. */
const MEANT = new RegExp(
  [
    '(^|[._-])(id|amount|currency|price|total|quantity|count|to|recipient|destination|account|iban|email|status|type)$',
    '[a-z](Id|Amount)$',
  ].join('|'),
)

export interface FieldDetector {
  see(call: RecordedCall): void
  findings(): readonly ScanFinding[]
}

export function fields(showValues: boolean): FieldDetector {
  const steps = new Map<string, Group>()
  const keys = new Map<string, Group>()
  const between = new Map<string, Differing>()
  const under = new Map<string, Differing>()

  function compare(
    groups: Map<string, Group>,
    id: string,
    call: RecordedCall,
    found: Map<string, Differing>,
  ): void {
    const group = groups.get(id)
    if (!group) {
      groups.set(id, { first: call, calls: 1 })
      return
    }
    group.calls++
    for (const { path, a, b } of differences(group.first.payload, call.payload)) {
      const { tenant, scope } = call
      const which = JSON.stringify([tenant, scope, path])
      const entry = found.get(which) ?? { tenant, scope, field: path, count: 0, examples: [] }
      entry.count++
      if (entry.examples.length < 5) {
        const values = showValues ? { value: short(a), otherValue: short(b) } : {}
        entry.examples.push({ field: path, line: group.first.line, otherLine: call.line, ...values })
      }
      found.set(which, entry)
    }
  }

  return {
    see(call) {
      const { tenant, scope, key, runId, stepId, ordinal = 0 } = call
      if (stepId !== undefined) {
        compare(steps, JSON.stringify([tenant, scope, runId, stepId, ordinal]), call, between)
      }
      if (key !== undefined) compare(keys, JSON.stringify([tenant, scope, key]), call, under)
    },
    findings: () => [
      ...Array.from(under.values(), (each) => finding('field-differs-under-one-key', 'error', each)),
      ...Array.from(between.values(), (each) => finding('field-differs-between-retries', 'warning', each)),
    ],
  }
}

function finding(code: ScanCode, level: ScanFinding['level'], { field, ...each }: Differing): ScanFinding {
  const quoted = JSON.stringify(field)
  if (code === 'field-differs-under-one-key') {
    return {
      level,
      code,
      ...each,
      message: `${quoted} differs between ${each.count} calls of ${each.scope} that shared a key`,
      remedy: MEANT.test(field)
        ? `make ${quoted} part of what the key is made of: these are different intents`
        : `make it part of the key if it changes what happens; if it is only words: identity: { ignore: [${quoted}] }`,
    }
  }
  return {
    level,
    code,
    ...each,
    message: `${quoted} differs between ${each.count} retries of one step of ${each.scope}`,
    remedy: MEANT.test(field)
      ? `${quoted} looks like part of the intent: find out why a retry changes it, and do not leave it out`
      : `leave it out of the identity: identity: { ignore: [${quoted}] }, or mark it non_idempotent in the schema`,
  }
}

interface Difference {
  readonly path: string
  readonly a: unknown
  readonly b: unknown
}

/** Paths as an identity names them: every item of a list is a star. */
function differences(a: unknown, b: unknown, path: readonly string[] = []): readonly Difference[] {
  if (canonical(a) === canonical(b)) return []
  const bothLists = Array.isArray(a) && Array.isArray(b)
  if (!bothLists && (!isObject(a) || !isObject(b) || Array.isArray(a) || Array.isArray(b))) {
    return [{ path: path.length === 0 ? '(all of it)' : path.join('.'), a, b }]
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  const found = [...names].flatMap((name) =>
    differences(member(a, name), member(b, name), [...path, bothLists ? '*' : name]),
  )
  const seen = new Set<string>()
  return found.filter((each) => !seen.has(each.path) && seen.add(each.path))
}

function member(value: unknown, name: string): unknown {
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function canonical(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalJson(value)
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

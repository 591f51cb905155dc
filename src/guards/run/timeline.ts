/**
 * The chain of keys of one run as one timeline: what led to it (webhook, message), the trigger, the run, its steps,
 * the tools they called; every decision about each, by the store's clock.
 */
import type { AuditEvent } from '../../core/audit.js'
import type { Ibid, Where } from '../../ibid.js'
import type { StepRecord } from './active-run.js'
import type { Observed } from './call.js'
import { cancelWhere, nameOf, runIdOf, runWhere, stepScope, triggerWhere } from './names.js'
import { noSuchRun } from './refusals.js'
import type { Kept } from './start.js'

/** One key of the chain. */
export interface ChainLink {
  readonly scope: string
  readonly key: string
  /** How far down: the ingress is 0. */
  readonly depth: number
  /** Of a step: the name it has in the code. */
  readonly name?: string
}

export interface Timeline {
  readonly runId: string
  readonly tenant: string
  /** In the order of the chain. */
  readonly chain: readonly ChainLink[]
  /** In the order of time. */
  readonly events: readonly (AuditEvent & { readonly depth: number; readonly name?: string })[]
  /** For people. */
  toString(): string
}

const PAGE = 1_000

export async function timeline(
  ibid: Ibid,
  run: { readonly tenant?: string; readonly runId: string },
): Promise<Timeline> {
  const { runId } = run
  const name = nameOf(runId, run.tenant)
  const receipt = await ibid.get(runWhere(name))
  if (!receipt || runIdOf({ ...name, tenant: receipt.tenant }, receipt.createdAt) !== runId) {
    throw noSuchRun(runId)
  }
  const { tenant } = receipt
  const trigger = triggerWhere(name, receipt.fingerprint)
  const via = ((await ibid.get({ ...trigger, tenant }))?.value as Kept | undefined)?.via ?? []
  const at = via.length
  const chain: ChainLink[] = [
    ...via.map((link, depth) => ({ ...link, depth })),
    { ...bare(trigger), depth: at },
    { ...bare(runWhere(name)), depth: at },
    ...(await stepsOf(ibid, tenant, runId, at + 1)),
    { ...bare(cancelWhere(tenant, name.agent, runId)), depth: at + 1 },
  ]
  const told = await Promise.all(
    chain.map(async ({ scope, key, depth, name }) => {
      const events = await ibid.history({ tenant, scope, key })
      return events.map((event) => ({ ...event, depth, ...(name === undefined ? {} : { name }) }))
    }),
  )
  const events = told.flat().toSorted((a, b) => a.at - b.at || a.depth - b.depth)
  const present = chain.filter((_, i) => (told[i] as readonly unknown[]).length > 0)
  return { runId, tenant, chain: present, events, toString: () => print(events) }
}

/** The steps in the order in which they began, each with the tool's own receipt behind it where it called one. */
async function stepsOf(ibid: Ibid, tenant: string, runId: string, depth: number): Promise<ChainLink[]> {
  const steps = []
  let cursor: string | undefined
  do {
    const page = await ibid.list({ tenant, scope: stepScope(runId), limit: PAGE, cursor })
    steps.push(...page.receipts)
    cursor = page.cursor
  } while (cursor !== undefined)
  const links = await Promise.all(
    steps
      .toSorted((a, b) => a.createdAt - b.createdAt)
      .map(async ({ scope, key }) => {
        const record = (await ibid.get({ tenant, scope, key }))?.value as StepRecord<unknown> | undefined
        const deeper = depth + key.split('.').length - 1
        const step = { scope, key, depth: deeper, ...(record ? { name: record.name } : {}) }
        const tool = record && toolOf(record)
        return tool ? [step, { ...tool, depth: deeper + 1 }] : [step]
      }),
  )
  return links.flat()
}

function toolOf({ name, value }: StepRecord<unknown>): Pick<ChainLink, 'scope' | 'key'> | undefined {
  const { _idempotency: about } = (value ?? {}) as Partial<Observed>
  const key = about?.key
  return name.startsWith('call ') && typeof key === 'string'
    ? { scope: `tool:${name.slice('call '.length)}`, key }
    : undefined
}

function bare({ scope, key }: Where): Pick<ChainLink, 'scope' | 'key'> {
  return { scope, key }
}

function print(events: Timeline['events']): string {
  const startMs = events[0]?.at ?? 0
  const rows = events.map(({ at, depth, scope, key, name, event, attempt, count, by, why }) => {
    const said = [by && `by ${by}`, why].filter(Boolean).join(': ')
    const times = count > 1 ? ` ×${count}` : ''
    const what = `${event}${times}${attempt > 1 ? ` (attempt ${attempt})` : ''}${said && `, ${said}`}`
    const layer = scope.split(':', 1)[0] as string
    // A trigger's key begins with the fingerprint of its run, which says nothing to people.
    const short = layer === 'trigger' ? key.slice(key.indexOf('/') + 1) : key
    const shown = layer === 'step' ? `step ${key}${name ? ` ${name}` : ''}` : `${scope} ${short}`
    return { ms: `+${(at - startMs).toFixed(1)} ms`, what: `${'  '.repeat(depth)}${shown}`, event: what }
  })
  const width = (of: 'ms' | 'what'): number => Math.max(0, ...rows.map((row) => row[of].length))
  const lines = rows.map(
    ({ ms, what, event }) => `${ms.padStart(width('ms'))}  ${what.padEnd(width('what'))}  ${event}`,
  )
  return [`from ${new Date(startMs).toISOString()}`, ...lines].join('\n')
}

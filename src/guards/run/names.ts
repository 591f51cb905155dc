/**
 * Where everything about a run is found. A run is the receipt of its trigger; its trigger's content, its steps, its
 * cancellation and the slots that admit it are receipts beside it, under addresses made of its id.
 *
 * The id names the agent and the trigger, and ends in a mark of the very run: a trigger that comes again after its
 * window is another run, and must not meet the steps of the first.
 */
import { invalidIntent } from '../../core/errors.js'
import { deriveKey, fingerprint, type Identity } from '../../key/index.js'
import type { Where } from '../../ibid.js'

/** A trigger's place among all triggers. */
export interface RunName {
  readonly tenant?: string | undefined
  readonly agent: string
  readonly key: string
}

const AGENT = /^[\w.-]{1,64}$/
const LONGEST_KEY = 100
const LONGEST_PLACE = 70
const MARK = 16

export function checkAgent(agent: unknown): asserts agent is string {
  if (typeof agent === 'string' && AGENT.test(agent)) return
  throw invalidIntent(
    `agent ${JSON.stringify(agent)} is not a name`,
    'name the agent with 1 to 64 letters, digits, underscores, dots and hyphens',
  )
}

/** The key of a run: as it was given where it is short, or else the fingerprint of the trigger. */
export function runKey(key: string | undefined, trigger: unknown, identity: Identity | undefined): string {
  const given = key ?? (typeof trigger === 'string' && trigger !== '' ? trigger : undefined)
  if (given === undefined) return fingerprint(trigger, identity)
  if (typeof given !== 'string') {
    throw invalidIntent('key is not a string', "give the trigger's own id as a string, or leave it out")
  }
  return encodeURIComponent(given.toWellFormed()).length <= LONGEST_KEY ? given : fingerprint(given)
}

export function runWhere({ tenant, agent, key }: RunName): Where {
  return { tenant, scope: `run:${agent}`, key }
}

/** What a trigger brought, kept so that a worker who never saw it can go on: found by the run's own fingerprint. */
export function triggerWhere({ tenant, agent, key }: RunName, runFingerprint: string): Where {
  return { tenant, scope: `trigger:${agent}`, key: `${runFingerprint}/${key}` }
}

/** A step's receipt has the run in its scope, and its place in the run as its key: `3`, `3.1`, `3.issue_refund#1`. */
export function stepWhere(
  run: { readonly tenant: string; readonly stepScope: string },
  place: string,
): Where {
  const { tenant, stepScope: scope } = run
  const key = place.length <= LONGEST_PLACE ? place : deriveKey({ tenant, layer: 'step' }, place)
  return { tenant, scope, key }
}

/** The key of a step for a downstream, which knows no scopes: no step of any other run has it. */
export function stepKey(runId: string, { key }: Pick<Where, 'key'>): string {
  return `${runId}/${key}`
}

export function stepScope(runId: string): string {
  return `step:${runId}`
}

/** A claim of the run that was no attempt: known by its epoch, which no other claim has. */
export function sparedWhere(tenant: string, runId: string, epoch: number): Where {
  return { tenant, scope: `spared:${runId}`, key: String(epoch) }
}

export function cancelWhere(tenant: string, agent: string, runId: string): Where {
  return { tenant, scope: `cancel:${agent}`, key: runId }
}

/** `createdAt` is the receipt's: it stays the same over all attempts of one run, and no later run has it. */
export function runIdOf(name: RunName & { readonly tenant: string }, createdAt: number): string {
  const { tenant, agent, key } = name
  const mark = deriveKey({ tenant, layer: 'run', agent, key }, createdAt).slice(3, 3 + MARK)
  return `${agent}:${encodeURIComponent(key)}:${mark}`
}

export function nameOf(runId: string, tenant?: string): RunName {
  const parts = typeof runId === 'string' ? runId.split(':') : []
  const [agent = '', escaped = '', mark = ''] = parts
  const key = unescaped(escaped)
  if (parts.length !== 3 || !AGENT.test(agent) || key === '' || mark.length !== MARK) {
    throw invalidIntent(
      `${JSON.stringify(runId)} is not the id of a run`,
      'give the runId that runs.start returned, or that runs.list shows',
    )
  }
  return { tenant, agent, key }
}

/** Nothing where it was never escaped: an id may come from anywhere. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

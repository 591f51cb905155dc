/**
 * What callers do in a simulated process: call `once` or `transact`, or claim and do it themselves; come back after
 * an error that says they may; and the effects, which end in every way that an effect can end.
 */
import type { Attempt, CheckResult, Policy } from '../../core/policy.js'
import { type Intent, IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../index.js'
import type { MemoryTx } from '../../stores/memory/index.js'
import { EffectFailed, type Grant } from './books.js'
import { draw } from './draw.js'
import type { Running, World } from './process.js'
import type { CallStep, KeyPlan } from './scenario.js'

/** Whatever else a caller is told is an error without a name. */
export const TOLD_CODES = [
  'KEY_REUSED',
  'RETRY_IN_FLIGHT',
  'OUTCOME_UNKNOWN',
  'LEASE_LOST',
  'STORE_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'REJECTED',
  'NOT_EXECUTED',
  'EFFECT',
]
/** Who claims, and does it on its own, also hears these. */
const CODES = new Set([...TOLD_CODES, 'NO_RECEIPT', 'INJECTED_FAULT'])

export const WHERE = { tenant: 'acme', scope: 'simulation' }

function sleep({ timers }: Running, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve))
}

export function codeOf(error: unknown): string {
  if (error instanceof IbidError) return error.code
  return error instanceof EffectFailed ? 'EFFECT' : String(error)
}

/** Resolves when the caller has an answer that it is content with. */
export async function call(world: World, running: Running, key: KeyPlan, step: CallStep): Promise<void> {
  const { books, trace } = world
  const { name } = running
  const make = maker(world, running, key, step)
  const what = `${key.name}${step.payload === 0 ? '' : ` with payload ${step.payload}`}`
  trace?.add(`${name} calls ${what}`)
  for (let retries = step.retries; ; retries--) {
    try {
      const { value, epoch } = await make()
      trace?.add(`${name}'s caller of ${what} has ${String(value)}`)
      if (value !== undefined) books.told(key.name, step.payload, value, epoch)
      return
    } catch (error) {
      const code = codeOf(error)
      trace?.add(`${name}'s caller of ${what} is told ${code}`)
      if (!CODES.has(code)) books.broken('every error has a name', `a caller of ${key.name} got ${code}`)
      const isFinal = error instanceof IbidError ? !error.retriable : false
      if (isFinal || retries <= 0) return
      // Half of the callers do not wait as long as they are told, but come back at once.
      const saidMs = (error instanceof IbidError ? error.retryAfterMs : undefined) ?? 5
      const patience = draw(world.scenario.seed, 300, retries + step.atMs * 8)
      await sleep(running, saidMs * Math.max(0, 2 * patience - 1))
    }
  }
}

type Made = Promise<{ readonly value: unknown; readonly epoch: number }>

function maker(world: World, running: Running, key: KeyPlan, step: CallStep): () => Made {
  const intent = { ...WHERE, key: key.name, payload: step.payload }
  const { leaseMs: lease, windowMs: window, timeoutMs: timeout, maxAttempts } = key
  const policy = { lease, window, timeout, wait: step.waitMs, maxAttempts }
  if (step.remote) return elsewhere(world, running, key, step, intent)
  if (key.policy === 'transact') {
    const { maxAttempts: _none, ...rest } = policy
    return async () => {
      const { value, receipt } = await running.ibid.transact(intent, within(world, running, key, step), rest)
      return { value, epoch: receipt.epoch }
    }
  }
  const recovery: Policy<string>['recovery'] =
    key.policy === 'check' ? { check: (attempt) => check(world, running, key, step, attempt) } : key.policy
  return async () => {
    const effect = effectOf(world, running, key, step)
    const { value, receipt } = await running.ibid.once<string>(intent, effect, { ...policy, recovery })
    return { value, epoch: receipt.epoch }
  }
}

async function check(
  { books, trace }: World,
  running: Running,
  key: KeyPlan,
  { payload, effectMs }: CallStep,
  { epoch, number }: Attempt,
): Promise<CheckResult<string>> {
  if (effectMs > 0) await sleep(running, effectMs / 4)
  const value = books.find(key.name, payload, { epoch, number })
  trace?.add(`${running.name} checks ${key.name}: ${value ?? 'nothing'}`)
  return value === undefined ? { found: false } : { found: true, value }
}

function land(
  { books, trace }: World,
  { name }: Running,
  key: KeyPlan,
  payload: number,
  grant: Grant,
): string {
  trace?.add(`${name}'s effect of ${key.name} happens, attempt ${grant.number}`)
  return books.land(key.name, payload, grant)
}

function effectOf(world: World, running: Running, key: KeyPlan, step: CallStep) {
  const { payload, effectMs, end, heeds } = step
  const happen = (attempt: Attempt): string => land(world, running, key, payload, attempt)

  async function perform(attempt: Attempt): Promise<string> {
    if (effectMs > 0) await sleep(running, effectMs)
    if (heeds && attempt.signal.aborted) throw new NotExecuted('its time was up before it began')
    endBefore(step)
    if (end === 'lands later') {
      const laterMs = draw(world.scenario.seed, 200, attempt.epoch) * 3 * key.leaseMs
      world.time.timers.after(laterMs, () => quietly(() => happen(attempt)))
      throw new EffectFailed('the answer of the downstream was lost')
    }
    const value = happen(attempt)
    await endAfter(step)
    return value
  }

  return (attempt: Attempt): string | Promise<string> => {
    world.books.started(key.name, attempt)
    return effectMs === 0 && end === 'value' && !heeds ? happen(attempt) : perform(attempt)
  }
}

/** The ends at which nothing happens. */
function endBefore({ end }: CallStep): void {
  if (end === 'rejected') throw new Rejected('refused')
  if (end === 'not executed') throw new NotExecuted('not done')
  if (end === 'throws') throw new EffectFailed('failed before it happened')
}

async function endAfter({ end }: CallStep): Promise<void> {
  if (end === 'unknown') throw new OutcomeUnknown('who knows')
  if (end === 'throws after') throw new EffectFailed('failed after it happened')
  if (end === 'hangs') await new Promise(() => {})
}

/** A downstream that fences may refuse what comes late; nobody is there to hear of it. */
function quietly(happen: () => unknown): void {
  try {
    happen()
  } catch (error) {
    if (!(error instanceof EffectFailed)) throw error
  }
}

/** The effect of a transaction is a line in the store's own table, in the same transaction. */
export function effectsOf(key: string): string {
  return `effects of ${key}`
}

function within(world: World, running: Running, key: KeyPlan, step: CallStep) {
  return async (tx: MemoryTx): Promise<string> => {
    if (step.effectMs > 0) await sleep(running, step.effectMs)
    endBefore(step)
    const value = world.books.draft(key.name, step.payload)
    const before = (tx.get(effectsOf(key.name)) ?? []) as readonly string[]
    tx.set(effectsOf(key.name), [...before, value])
    world.trace?.add(`${running.name}'s transaction of ${key.name} writes ${value}`)
    await endAfter(step)
    return value
  }
}

/** Claims under a token of its own, works, and settles; where the claim's answer is lost, it claims again. */
function elsewhere(world: World, running: Running, key: KeyPlan, step: CallStep, intent: Intent): () => Made {
  const { ibid } = running
  const recovery = key.policy as 'hold' | 'retry'
  const { leaseMs: lease, windowMs: window, maxAttempts } = key
  let token: string | undefined
  return async () => {
    token ??= running.newToken().padEnd(22, '.')
    const policy = { lease, window, maxAttempts, wait: step.waitMs, recovery, token }
    const claim = await ibid.claim(intent, policy).catch((error: unknown) => {
      // Under a token that was used up, there is nothing to come back for.
      if (codeOf(error) !== 'INVALID_INTENT') throw error
      return undefined
    })
    if (claim?.claimed === false) return { value: claim.value, epoch: claim.receipt.epoch }
    if (!claim) return { value: undefined, epoch: 0 }
    const mine = token
    token = undefined
    const { epoch, attempt: number } = claim.receipt
    if (step.effectMs > 0) await sleep(running, step.effectMs)
    const owned = { ...WHERE, key: key.name, token: mine }
    if (step.end === 'rejected') await ibid.settle(owned, { as: 'failed', error: { message: 'refused' } })
    else if (step.end === 'not executed') await ibid.settle(owned, { as: 'released' })
    else {
      const value = land(world, running, key, step.payload, { epoch, number })
      // Whoever works elsewhere may also never come back.
      if (step.end !== 'value' && step.end !== 'unknown') return { value: undefined, epoch }
      await ibid.settle(owned, step.end === 'value' ? { as: 'succeeded', value } : { as: 'unknown' })
      if (step.end === 'value') return { value, epoch }
    }
    return { value: undefined, epoch }
  }
}

/**
 * From a trigger to its run: what the trigger brought is written down, then the run's receipt is claimed, and whoever
 * comes second joins, gets the outcome, or is told, as the policy says. The trigger goes first, so that there is never
 * a run in the hands of a dead worker whose trigger nobody knows.
 */
import { IbidError, invalidIntent, NotExecuted } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { copyPlain, fromTagged, isPlain, toTagged } from '../../core/tagged.js'
import {
  canonicalJson,
  fingerprint,
  fingerprintOfText,
  type Identity,
  identityText,
} from '../../key/index.js'
import type { ReceiptView } from '../../core/receipt.js'
import { checkChain, type Link } from './chain.js'
import type { Desk } from './desk.js'
import { checkAgent, type RunName, runIdOf, runKey, runWhere, triggerWhere } from './names.js'
import { active, alreadyRun, isInFlight } from './refusals.js'
import { type Body, work } from './run.js'
import { type RunTerms, UNLIMITED } from './terms.js'
import { pause } from './timers.js'

export interface Trigger {
  /** May be left out where createIbid was given one. */
  readonly tenant?: string | undefined
  readonly agent: string
  /** What came in: the same trigger, the same run. */
  readonly trigger: unknown
  /** The trigger's own id, where it has one. The same key with another trigger is a conflict. */
  readonly key?: string | undefined
  /** Which part of the trigger counts: see `ibid/key`. */
  readonly identity?: Identity | undefined
  /** The keys that led here, the outermost first. */
  readonly via?: readonly Link[] | undefined
}

export interface Started<T> {
  readonly value: T
  readonly runId: string
  /** The run was active when this trigger came, and this is what came of it. */
  readonly joined: boolean
  /** This call did not run anything: the outcome is another one's. */
  readonly replayed: boolean
}

/** What a trigger brought, as its receipt keeps it. */
export interface Kept {
  /** Of what counts in the trigger: the payload of the run. */
  readonly print: string
  readonly trigger: unknown
  readonly via: readonly Link[]
}

export interface StartOptions<T> {
  readonly terms: RunTerms
  readonly body: Body<T>
  /** Not before this instant of the store's clock. */
  readonly notBeforeMs?: number
  /** Not anew after this instant of the store's clock: from then on a run of it may have been forgotten. */
  readonly notAfterMs?: number
  /** When the receipt was made that somebody saw and goes on with: not anew, if it was forgotten since. */
  readonly seenAt?: number
  /** Told the store's clock by whoever wins. */
  readonly onStoreTime?: (storeMs: number) => void
}

const KNOWN = ['tenant', 'agent', 'trigger', 'key', 'identity', 'via'] satisfies (keyof Trigger)[]
/** Characters that every store keeps. */
const SURELY_KEPT = 50_000

export async function start<T>(desk: Desk, given: Trigger, options: StartOptions<T>): Promise<Started<T>> {
  onlyKnown(given, KNOWN, 'a trigger')
  checkAgent(given.agent)
  const key = runKey(given.key, given.trigger, given.identity)
  const name: RunName = { tenant: given.tenant, agent: given.agent, key }
  const { print, isLarge } = measured(given)
  const kept: Kept = { print, trigger: copied(given.trigger), via: checkChain(given.via ?? []) }
  const where = triggerWhere(name, fingerprint(print))
  const { windowMs, stepWindowMs, leaseMs } = options.terms
  const policy = {
    window: Math.max(stepWindowMs, windowMs),
    lease: leaseMs,
    wait: leaseMs * 2,
    recovery: 'retry',
  } as const
  const first = await desk.ibid
    .once(where, () => kept, policy)
    .catch((error: unknown) => {
      throw isNotKept(error) ? tooLarge() : error
    })
  // Known before the run begins: without its trigger, nobody could take it up.
  if (!first.replayed && isLarge && (await desk.ibid.get(where))?.value === undefined) throw tooLarge()
  return await startKept(desk, { ...name, tenant: first.receipt.tenant }, first.value, options)
}

/** As `start`, for a trigger that was written down: also how a run is taken up by another worker. */
export async function startKept<T>(
  desk: Desk,
  name: RunName & { readonly tenant: string },
  { print, trigger, via }: Kept,
  { terms, body, notBeforeMs, notAfterMs, seenAt, onStoreTime }: StartOptions<T>,
): Promise<Started<T>> {
  const where = runWhere(name)
  const { agent, key } = name
  const kept = (): ReturnType<typeof desk.ibid.get> => desk.ibid.get(triggerWhere(name, fingerprint(print)))
  let ran: { readonly createdAt: number; readonly runId: string } | undefined
  const once = (waitMs: number): ReturnType<typeof desk.ibid.once<T>> =>
    desk.ibid.once<T>(
      { ...where, payload: print },
      async (attempt) => {
        const { createdAt } = attempt
        const sinceMs = desk.timers.elapsedMs()
        ran = { createdAt, runId: runIdOf(name, createdAt) }
        const isOther = seenAt !== undefined && createdAt !== seenAt
        // A later run that was taken over is gone on with: given back, nobody would look for it.
        if (isOther && attempt.number === 1) throw forgotten(name, seenAt)
        const storeMs = attempt.epoch / 1_000
        onStoreTime?.(storeMs)
        // Not the time of this claim: while there is a receipt, what has happened under it is remembered.
        if (notAfterMs !== undefined && createdAt > notAfterMs) throw tooLate(createdAt - notAfterMs)
        if (notBeforeMs !== undefined && storeMs < notBeforeMs) {
          // A little is waited out under the lease, so that nobody else has to watch over it; much is not ours yet.
          const earlyMs = notBeforeMs - storeMs
          if (earlyMs > terms.leaseMs) throw tooEarly(earlyMs)
          await pause(desk.timers, earlyMs, attempt.signal)
        }
        return await work(desk, attempt, {
          runId: ran.runId,
          agent,
          key,
          trigger,
          via,
          kept,
          terms,
          body,
          sinceMs,
        })
      },
      {
        window: terms.windowMs,
        lease: terms.leaseMs,
        recovery: 'retry',
        wait: waitMs,
        ...UNLIMITED,
      },
    )
  const idOf = ({ createdAt }: ReceiptView): string =>
    createdAt === ran?.createdAt ? ran.runId : runIdOf(name, createdAt)
  // What the code itself threw is about other runs, of other tenants even.
  const isActive = (error: unknown): error is IbidError => !ran && isInFlight(error, where)
  let wasActive = false
  try {
    const done = await once(0).catch(async (error: unknown) => {
      if (!isActive(error)) throw error
      if (terms.duplicate !== 'join') throw error
      wasActive = true
      return await once(terms.waitMs)
    })
    if (done.replayed && terms.duplicate === 'tell') throw alreadyRun(idOf(done.receipt), done.receipt)
    return {
      value: done.value,
      runId: idOf(done.receipt),
      joined: wasActive && done.replayed,
      replayed: done.replayed,
    }
  } catch (error) {
    if (!ran && terms.duplicate === 'tell' && isReplay(error))
      throw alreadyRun(idOf(error.receipt), error.receipt)
    if (!isActive(error)) throw error
    const receipt = error.receipt as ReceiptView
    throw active(idOf(receipt), receipt, error.retryAfterMs ?? terms.leaseMs)
  }
}

/** Of its text nothing else is kept: a run is under way for long. */
function measured({ trigger, identity }: Trigger): { readonly print: string; readonly isLarge: boolean } {
  const text = identityText(trigger, identity)
  const isLarge = identity === undefined ? text.length > SURELY_KEPT : isLong(trigger)
  return { print: fingerprintOfText(text), isLarge }
}

/** Whoever sent it may fill it anew while the store is asked: what is kept is what the print was made of. */
function copied(trigger: unknown): unknown {
  if (isPlain(trigger)) return copyPlain(trigger)
  try {
    return fromTagged(toTagged(trigger))
  } catch {
    // It has no end, so no store keeps it.
    return trigger
  }
}

/** What cannot be measured, in a part that does not count in it, may be. */
function isLong(trigger: unknown): boolean {
  try {
    return canonicalJson(trigger).length > SURELY_KEPT
  } catch {
    return true
  }
}

function isNotKept(error: unknown): boolean {
  return error instanceof IbidError && error.code === 'VALUE_NOT_RETAINED'
}

function tooLarge(): IbidError {
  return invalidIntent(
    'the trigger is larger than the store can keep, so no other worker could go on with its run',
    'keep what is large elsewhere, and put its address into the trigger',
  )
}

/** A run that had failed before, or whose value was not kept. */
function isReplay(error: unknown): error is IbidError & { readonly receipt: ReceiptView } {
  return error instanceof IbidError && error.replayed === true && error.receipt !== undefined
}

/** Whoever goes on with it stood still for longer than its end was remembered. */
function forgotten(name: RunName & { readonly tenant: string }, seenAt: number): NotExecuted {
  return new NotExecuted(`run ${runIdOf(name, seenAt)} has ended, and its window is over; nothing ran`, {
    code: 'NO_SUCH_RUN',
    action: 'look at runs.list for what is there; the same trigger would start a run of its own',
  })
}

/** A worker whose clock is ahead of the store's. */
function tooEarly(byMs: number): NotExecuted {
  return new NotExecuted(`by the store's clock it is ${Math.ceil(byMs)} ms too early; nothing ran`, {
    code: 'TOO_EARLY',
    retryAfterMs: Math.max(1, Math.ceil(byMs)),
  })
}

/** A worker that stood still between its choice and its claim, or whose clock is behind the store's. */
function tooLate(byMs: number): NotExecuted {
  return new NotExecuted(
    `by the store's clock it is ${Math.ceil(byMs)} ms too late: a run of it may have been forgotten; nothing ran`,
    {
      code: 'TOO_LATE',
      action: 'look up whether it ran then, and do by hand what is left to do',
    },
  )
}

export function isTooLate(error: IbidError): boolean {
  return error.code === 'TOO_LATE'
}

export function isTooEarly(error: unknown): error is IbidError {
  return error instanceof IbidError && error.code === 'TOO_EARLY'
}

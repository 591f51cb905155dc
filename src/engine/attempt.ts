/**
 * One attempt as its effect sees it, under a lease that is kept while it runs. The effect's promise races only
 * against the lease: when that is lost or the time is up, the caller is told at once, and whatever the effect
 * does afterwards changes nothing here.
 */
import { ownerDraft } from '../core/drafts.js'
import { IbidError, leaseLost, storeUnavailable } from '../core/errors.js'
import { LazySignal } from '../core/lazy-signal.js'
import type { Attempt, Check, CheckResult } from '../core/policy.js'
import { isPromised } from '../core/promised.js'
import { type Receipt, asWritten, view } from '../core/receipt.js'
import { abandon } from './abandon.js'
import type { Kept } from './lease-keeper.js'
import { answered, type Room } from './room.js'
import { announce } from './settle.js'

/** What an effect is given. The signal is made only when somebody asks for it: most effects never do. */
class RunningAttempt implements Attempt {
  readonly tenant: string
  readonly scope: string
  readonly key: string
  readonly number: number
  readonly epoch: number
  readonly createdAt: number
  readonly isFirst: boolean
  readonly #room: Room
  readonly #receipt: Receipt
  readonly #sinceMs: number
  #end: LazySignal | undefined

  /** `sinceMs`: from when its lease is good; never, where it has none. */
  constructor(room: Room, receipt: Receipt, isFirst: boolean, sinceMs: number) {
    this.#room = room
    this.#receipt = receipt
    this.#sinceMs = sinceMs
    this.tenant = receipt.tenant
    this.scope = receipt.scope
    this.key = receipt.key
    this.number = receipt.attempt
    this.epoch = receipt.epoch
    this.createdAt = receipt.createdAt
    this.isFirst = isFirst
  }

  get signal(): AbortSignal {
    this.#end ??= new LazySignal()
    return this.#end.signal
  }

  static async goOn(attempt: Attempt): Promise<void> {
    if (#room in attempt) await stillOwned(attempt.#room, attempt.#receipt, attempt.#sinceMs)
    attempt.signal.throwIfAborted()
  }

  /** Not a method: what an effect holds cannot end its own attempt. */
  static end(attempt: RunningAttempt, error: IbidError): void {
    attempt.#end ??= new LazySignal()
    attempt.#end.abort(error)
  }
}

/**
 * For whoever has waited for something in an attempt, before what the attempt is for begins: the lease, or its time,
 * may be over by now. Throws LEASE_LOST when the receipt has changed hands.
 */
export function mustGoOn(attempt: Attempt): Promise<void> {
  return RunningAttempt.goOn(attempt)
}

/** Renewals that may come back late before an attempt that has not begun is given up. */
const TRIES = 3

/**
 * Nothing starts on a lease that may be over: a process that was paused between the claim and now asks first.
 * Throws LEASE_LOST when the receipt has changed hands.
 */
export function stillOwned(room: Room, receipt: Receipt, sinceMs: number): Promise<void> | undefined {
  if (room.timers.elapsedMs() - sinceMs < receipt.leaseMs / 2) return undefined
  return askOwned(room, receipt)
}

async function askOwned(room: Room, receipt: Receipt): Promise<void> {
  for (let tried = 1; ; tried++) {
    const askedMs = room.timers.elapsedMs()
    const asked = answered(room, 'nothing was executed', renew(room, receipt))
    asked.catch(() => abandon(room, receipt))
    if (!(await asked)) throw leaseLost(view(receipt))
    // The answer was on its way as well: what it says holds only while the lease that it moved is young.
    if (room.timers.elapsedMs() - askedMs < receipt.leaseMs / 2) return
    if (tried === TRIES) {
      abandon(room, receipt)
      throw storeUnavailable('nothing was executed', 'its answers take longer than half of the lease')
    }
  }
}

/**
 * Runs `work` under the receipt's lease, which is good from `sinceMs`. Rejects with LEASE_LOST or UPSTREAM_TIMEOUT when
 * that ends first. Work that is done when it returns needs no keeping, and its result is given back as it is.
 */
export function underLease<T>(
  room: Room,
  receipt: Receipt,
  timeoutMs: number,
  sinceMs: number,
  isFirst: boolean,
  work: (attempt: Attempt) => T | PromiseLike<T>,
): T | Promise<T> {
  const attempt = new RunningAttempt(room, receipt, isFirst, sinceMs)
  const endsMs = room.timers.elapsedMs() + timeoutMs
  const result = work(attempt)
  if (!isPromised(result)) return result
  return new Underway<T>(room, receipt, attempt, timeoutMs, sinceMs, endsMs).race(result)
}

/** An effect that is running, as the keeper of its lease sees it. */
class Underway<T> implements Kept {
  readonly receipt: Receipt
  readonly sinceMs: number
  readonly endsMs: number
  readonly #room: Room
  readonly #attempt: RunningAttempt
  readonly #timeoutMs: number
  #reject: ((error: IbidError) => void) | undefined

  constructor(
    room: Room,
    receipt: Receipt,
    attempt: RunningAttempt,
    timeoutMs: number,
    sinceMs: number,
    endsMs: number,
  ) {
    this.#room = room
    this.receipt = receipt
    this.#attempt = attempt
    this.#timeoutMs = timeoutMs
    this.sinceMs = sinceMs
    this.endsMs = endsMs
  }

  race(result: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      const { leases } = this.#room
      const lease = leases.keep(this)
      Promise.resolve(result).then(
        (value) => {
          leases.drop(lease)
          resolve(value)
        },
        (error: unknown) => {
          leases.drop(lease)
          reject(error)
        },
      )
    })
  }

  renew(): Promise<boolean> {
    return renew(this.#room, this.receipt)
  }

  onLost(): void {
    this.#interrupt(leaseLost(view(this.receipt)))
  }

  onTimeout(): void {
    this.#interrupt(timedOut(this.receipt, this.#timeoutMs))
  }

  #interrupt(error: IbidError): void {
    RunningAttempt.end(this.#attempt, error)
    this.#reject?.(error)
  }
}

/** A check that throws, or answers something else, has not told us anything. */
export async function askCheck<T>(check: Check<T>, attempt: Attempt): Promise<CheckResult<T>> {
  try {
    const answer = await check(attempt)
    return answer?.found === true || answer?.found === false ? answer : { found: 'unclear' }
  } catch {
    return { found: 'unclear' }
  }
}

/** A check under no lease, of a held receipt. One that hangs is ended when its time is up, and has told nothing. */
export function askCheckWithin<T>(
  room: Room,
  held: Receipt,
  timeoutMs: number,
  check: Check<T>,
): Promise<CheckResult<T>> {
  const attempt = new RunningAttempt(room, held, false, Number.POSITIVE_INFINITY)
  return new Promise((resolve) => {
    const disarm = room.timers.after(timeoutMs, () => {
      RunningAttempt.end(attempt, timedOut(held, timeoutMs, 'status check'))
      resolve({ found: 'unclear' })
    })
    void askCheck(check, attempt).then((answer) => {
      disarm()
      resolve(answer)
    })
  })
}

async function renew(room: Room, receipt: Receipt): Promise<boolean> {
  const next = ownerDraft(receipt, 'renew', null)
  const change = { expect: { token: receipt.token, state: receipt.state }, next }
  const swapped = await room.commit.swap(change)
  if (swapped.done) announce(room, asWritten(next, swapped.now, swapped.epoch), change)
  return swapped.done
}

function timedOut(receipt: Receipt, timeoutMs: number, what = 'effect'): IbidError {
  return new IbidError(`the ${what} did not end within ${timeoutMs} ms; it may still happen`, {
    code: 'UPSTREAM_TIMEOUT',
    retriable: false,
    action: 'do not use a new key: what happens to this one is decided by its recovery policy',
    receipt: view(receipt),
  })
}

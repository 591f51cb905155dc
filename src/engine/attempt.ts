/**
 * One attempt as its effect sees it, under a lease that is kept while it runs. The effect's promise races only
 * against the lease: when that is lost or the time is up, the caller is told at once, and whatever the effect
 * does afterwards changes nothing here.
 */
import { ownerDraft } from '../core/drafts.js'
import { IbidError, leaseLost } from '../core/errors.js'
import type { Attempt, Check, CheckResult } from '../core/policy.js'
import { type Receipt, asWritten, view } from '../core/receipt.js'
import { abandon } from './abandon.js'
import { answered, type Room } from './room.js'
import { announce } from './settle.js'

export function attemptOf(receipt: Receipt, signal: () => AbortSignal): Attempt {
  const { tenant, scope, key, attempt: number, epoch } = receipt
  return {
    tenant,
    scope,
    key,
    number,
    epoch,
    // Made only when somebody asks: most effects never do.
    get signal() {
      return signal()
    },
  }
}

/**
 * Nothing starts on a lease that may be over: a process that was paused between the claim and now asks first.
 * Throws LEASE_LOST when the receipt has changed hands.
 */
export function stillOwned(room: Room, receipt: Receipt, sinceMs: number): Promise<void> | undefined {
  if (room.timers.elapsedMs() - sinceMs < receipt.leaseMs / 2) return undefined
  return askOwned(room, receipt)
}

async function askOwned(room: Room, receipt: Receipt): Promise<void> {
  const asked = answered(room, 'nothing was executed', renew(room, receipt))
  asked.catch(() => abandon(room, receipt))
  if (!(await asked)) throw leaseLost(view(receipt))
}

/** Runs `work` under the receipt's lease. Rejects with LEASE_LOST or UPSTREAM_TIMEOUT when the lease ends first. */
export function underLease<T>(
  room: Room,
  receipt: Receipt,
  timeoutMs: number,
  work: (attempt: Attempt) => T | Promise<T>,
): Promise<T> {
  let controller: AbortController | undefined
  let ended: IbidError | undefined
  function signal(): AbortSignal {
    controller ??= new AbortController()
    if (ended) controller.abort(ended)
    return controller.signal
  }

  return new Promise<T>((resolve, reject) => {
    function interrupt(error: IbidError): void {
      ended = error
      controller?.abort(error)
      reject(error)
    }
    const stop = room.leases.keep({
      receipt,
      timeoutMs,
      renew: () => renew(room, receipt),
      onLost: () => interrupt(leaseLost(view(receipt))),
      onTimeout: () => interrupt(timedOut(receipt, timeoutMs)),
    })
    async function perform(): Promise<T> {
      return await work(attemptOf(receipt, signal))
    }
    perform().then(
      (value) => {
        stop()
        resolve(value)
      },
      (error: unknown) => {
        stop()
        reject(error)
      },
    )
  })
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

async function renew(room: Room, receipt: Receipt): Promise<boolean> {
  const next = ownerDraft(receipt, 'renew', null)
  const change = { expect: { token: receipt.token, state: receipt.state }, next }
  const swapped = await room.commit.swap(change)
  if (swapped.done) announce(room, asWritten(next, swapped.now, swapped.epoch), change)
  return swapped.done
}

function timedOut(receipt: Receipt, timeoutMs: number): IbidError {
  return new IbidError(`the effect did not end within ${timeoutMs} ms; it may still happen`, {
    code: 'UPSTREAM_TIMEOUT',
    retriable: false,
    action: 'do not use a new key: what happens to this one is decided by its recovery policy',
    receipt: view(receipt),
  })
}

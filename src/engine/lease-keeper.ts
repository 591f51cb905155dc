/**
 * Keeps the leases of running attempts, all of them with one timer. A lease is renewed each third of its length,
 * until the effect's time is up and not after: a hung effect is not renewed for ever. The renewals go out from
 * the loop that the effect runs on, on purpose: a thread of its own would renew for a process that hangs.
 * A loop that was blocked renews first thing when it is free again; the token decides whether that was in time.
 */
import type { Receipt } from '../core/receipt.js'
import { type Member, Roster } from '../core/roster.js'
import { createAlarm } from './alarm.js'
import type { Timers } from './timers.js'

export interface Kept {
  readonly receipt: Receipt
  /** The lease is good from here, and the effect may run until there: milliseconds of the engine's clock. */
  readonly sinceMs: number
  readonly endsMs: number
  /** Sends one renewal. False: the lease is lost. A rejection is tried again at the next turn. */
  renew(): Promise<boolean>
  onLost(): void
  onTimeout(): void
}

export interface LeaseKeeper {
  keep(attempt: Kept): Lease
  /** The attempt has ended. */
  drop(lease: Lease): void
}

export interface Lease extends Member {
  readonly attempt: Kept
  readonly endsMs: number
  renewMs: number
  renewing: boolean
}

/** Leases are renewed this many times within their length, so that one lost renewal does no harm. */
const RENEWALS = 3

export function createLeaseKeeper(timers: Timers): LeaseKeeper {
  const leases = new Roster<Lease>()
  const alarm = createAlarm(timers, turn)

  function turn(): void {
    const nowMs = timers.elapsedMs()
    let nextMs = Number.POSITIVE_INFINITY
    leases.each((lease) => {
      if (nowMs >= lease.endsMs) {
        leases.delete(lease)
        lease.attempt.onTimeout()
        return
      }
      if (nowMs >= lease.renewMs && !lease.renewing) void renew(lease, nowMs)
      // While a renewal is on its way the next one is not due: its answer sets the time for that.
      nextMs = Math.min(nextMs, lease.renewing ? lease.endsMs : lease.renewMs, lease.endsMs)
    })
    if (leases.size > 0) alarm.setFor(nextMs)
  }

  async function renew(lease: Lease, nowMs: number): Promise<void> {
    lease.renewing = true
    lease.renewMs = nowMs + lease.attempt.receipt.leaseMs / RENEWALS
    const kept = await lease.attempt.renew().catch(() => true)
    lease.renewing = false
    if (kept && leases.has(lease)) alarm.setFor(Math.min(lease.renewMs, lease.endsMs))
    if (!kept && leases.delete(lease)) lease.attempt.onLost()
  }

  return {
    keep(attempt) {
      const lease: Lease = {
        attempt,
        endsMs: attempt.endsMs,
        renewMs: attempt.sinceMs + attempt.receipt.leaseMs / RENEWALS,
        renewing: false,
        at: -1,
      }
      leases.add(lease)
      alarm.setFor(Math.min(lease.renewMs, lease.endsMs))
      return lease
    },
    drop(lease) {
      leases.delete(lease)
      if (leases.size === 0) alarm.stop()
    },
  }
}

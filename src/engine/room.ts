/** What the parts of one engine share. Made once, in engine.ts. */
import type { AuditNote } from '../core/audit.js'
import { storeUnavailable } from '../core/errors.js'
import type { Address, Receipt } from '../core/receipt.js'
import type { Terms } from '../core/policy.js'
import type { Store } from '../store.js'
import type { Auditor } from './auditor.js'
import type { Executions } from './executions.js'
import type { GroupCommit } from './group-commit.js'
import type { LeaseKeeper } from './lease-keeper.js'
import type { Seen, SettledCache } from './settled-cache.js'
import type { Telemetry } from './telemetry.js'
import type { Errands, Timers } from './timers.js'
import type { WaitingRoom } from './waiting-room.js'

export interface Room<Tx = unknown> {
  readonly store: Store<Tx>
  readonly commit: GroupCommit
  readonly cache: SettledCache
  readonly executions: Executions
  readonly waiting: WaitingRoom
  readonly leases: LeaseKeeper
  readonly auditor: Auditor
  readonly telemetry: Telemetry
  readonly timers: Timers
  readonly errands: Errands
  readonly newToken: () => string
  /** Calls that may write: the store stays open until the last of them has ended. */
  readonly calls: { enter(): void; leave(): void; isOnlyOne(): boolean }
  /** Nothing new may start: the store is about to be closed. */
  readonly isClosing: () => boolean
}

/** One call of `once` or `transact`, with everything about it read and checked. */
export interface Call<T = unknown> {
  readonly id: string
  readonly address: Address
  readonly fingerprint: string
  /** What the fingerprint was made of, copied, where it is plain and small; for the cache. */
  seen(): Seen | undefined
  readonly terms: Terms<T>
  /** Who asks, where that is known; for the record of a conflict. */
  readonly by?: string | undefined
  /** What differs from the payload with this fingerprint, where the caller still knows that one. */
  readonly differs?: ((first: string) => string | undefined) | undefined
}

/** A store that does not answer is a structured error; `meaning` says what that means for the effect. */
export async function answered<T>(room: Room, meaning: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    room.telemetry.storeFailed()
    throw storeUnavailable(meaning, error)
  }
}

/** A decision that changed nothing goes to telemetry and the audit log together. */
export function notice(
  room: Room,
  receipt: Receipt,
  event: 'in_flight' | 'conflict' | 'stale',
  said: Omit<AuditNote, 'event'> = {},
): void {
  room.telemetry.decided(event, receipt.scope)
  room.auditor.noticed(receipt, { event, ...said })
}

/**
 * Where duplicates wait for an attempt that runs somewhere else. One poll serves all of them, slower the longer
 * nothing happens; a store that can tell of changes wakes them at once. A waiter is woken when the receipt is no
 * longer held by the attempt it waits for, or when that attempt's lease has lapsed; what that means is decided
 * by whoever claims next, not here.
 */
import { type Address, addressId, type Receipt } from '../core/receipt.js'
import type { Store } from '../store.js'
import { createAlarm } from './alarm.js'
import type { GroupCommit } from './group-commit.js'
import type { Timers } from './timers.js'

export interface WaitingRoom {
  /**
   * Resolves to true when it is worth looking again, to false at `deadlineMs` of the engine's clock. A closed room
   * lets nobody wait: who looks again sees that.
   */
  wait(found: Receipt, now: number, deadlineMs: number): Promise<boolean>
  /** This process has changed it: whoever waits for it may look at once. */
  told(address: Address): void
  close(): void
}

interface Waiter {
  readonly token: string
  readonly deadlineMs: number
  readonly wake: (again: boolean) => void
}

interface Place {
  readonly address: Address
  readonly waiters: Set<Waiter>
  /** How long until the next look, and when it is due. */
  paceMs: number
  dueMs: number
  looking: boolean
  /** Told of a change while a look was on its way: that look may have come too early. */
  told: boolean
}

const FASTEST_MS = 4
const SLOWEST_MS = 250
/**
 * Where more wait than that, each is looked after less often: together they ask for a few thousand receipts a
 * second.
 */
const CROWD_MS = 0.25

/** On a coarse grid, so that ten thousand waiters are looked after in a few turns and not in ten thousand. */
function nextLook(nowMs: number, paceMs: number): number {
  const grid = Math.max(1, Math.floor(paceMs / 4))
  return Math.ceil((nowMs + paceMs) / grid) * grid
}

export function createWaitingRoom(store: Store, commit: GroupCommit, timers: Timers): WaitingRoom {
  const places = new Map<string, Place>()
  let isClosed = false
  const alarm = createAlarm(timers, turn)
  const unwatch = store.watch?.(told)

  function told(address: Address): void {
    const place = places.get(addressId(address))
    if (!place) return
    place.told = true
    void look(place)
  }

  function turn(): void {
    const nowMs = timers.elapsedMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const place of places.values()) {
      for (const waiter of place.waiters) {
        if (nowMs >= waiter.deadlineMs) leave(place, waiter, false)
        else nextMs = Math.min(nextMs, waiter.deadlineMs)
      }
      if (place.waiters.size === 0) continue
      if (nowMs >= place.dueMs) void look(place)
      nextMs = Math.min(nextMs, place.dueMs)
    }
    if (places.size > 0) alarm.setFor(nextMs)
  }

  async function look(place: Place): Promise<void> {
    place.paceMs = Math.min(place.paceMs * 1.5, Math.max(SLOWEST_MS, places.size * CROWD_MS))
    place.dueMs = nextLook(timers.elapsedMs(), place.paceMs)
    if (place.looking) return
    place.looking = true
    place.told = false
    // A store that does not answer now may answer at the next look; the waiters have their deadline.
    const seen = await commit.get(place.address).catch(() => undefined)
    place.looking = false
    if (!seen) return
    const { receipt, now } = seen
    const running = receipt?.state === 'pending' && now < (receipt.until as number)
    for (const waiter of place.waiters) {
      if (!running || receipt.token !== waiter.token) leave(place, waiter, true)
    }
    if (running) soonerAt(place, (receipt.until as number) - now)
    if (place.told && place.waiters.size > 0) void look(place)
  }

  function soonerAt(place: Place, leaseLeftMs: number): void {
    place.dueMs = Math.min(place.dueMs, timers.elapsedMs() + leaseLeftMs)
    if (place.waiters.size > 0) alarm.setFor(place.dueMs)
  }

  function leave(place: Place, waiter: Waiter, again: boolean): void {
    if (!place.waiters.delete(waiter)) return
    if (place.waiters.size === 0) places.delete(addressId(place.address))
    waiter.wake(again)
  }

  return {
    wait(found, now, deadlineMs) {
      if (isClosed) return Promise.resolve(true)
      const id = addressId(found)
      const nowMs = timers.elapsedMs()
      const place = places.get(id) ?? {
        address: { tenant: found.tenant, scope: found.scope, key: found.key },
        waiters: new Set<Waiter>(),
        paceMs: FASTEST_MS,
        dueMs: nowMs + FASTEST_MS,
        looking: false,
        told: false,
      }
      places.set(id, place)
      return new Promise((wake) => {
        place.waiters.add({ token: found.token, deadlineMs, wake })
        soonerAt(place, (found.until as number) - now)
        alarm.setFor(Math.min(place.dueMs, deadlineMs))
      })
    },
    told,
    close() {
      isClosed = true
      unwatch?.()
      alarm.stop()
      for (const place of places.values()) for (const waiter of place.waiters) leave(place, waiter, true)
    },
  }
}

/** A store with one fault: how it is made from a sound one, and which test of the suite has to notice. */
import { setImmediate } from 'node:timers/promises'
import type { Address, Draft, Receipt } from '../../../src/core/receipt.js'
import type { MemoryTx } from '../../../src/stores/memory/index.js'
import type { Store } from '../../../src/store.js'
import type { RunningClock } from '../../../src/testing/index.js'

export interface BrokenStore {
  readonly fault: string
  /** The name, or the end of it, of a test that must fail. */
  readonly caughtBy: string
  /** Replaces some of the methods of a sound store. */
  readonly make: (sound: Store<MemoryTx>, clock: RunningClock) => Partial<Store<MemoryTx>>
}

/** Lets everything else that waits come first. */
export async function pause(): Promise<void> {
  await setImmediate()
}

export async function read(store: Store, address: Address): Promise<Receipt | undefined> {
  return (await store.get([address])).receipts[0]
}

/** Writes over whatever is there: what no method of a sound store does. */
export async function force(store: Store, next: Draft): Promise<number> {
  const there = await read(store, next)
  if (!there) {
    const [claimed] = await store.claim([next])
    return claimed?.won ? claimed.epoch : 0
  }
  const [swapped] = await store.swap([{ expect: { token: there.token, state: there.state }, next }])
  return swapped?.done ? swapped.epoch : 0
}

/** A store that keeps its receipts under another address than the one it is asked for. */
export function renamed(
  store: Store,
  rename: (address: Address) => Address,
): Pick<Store, 'claim' | 'swap' | 'get'> {
  return {
    async claim(wanted) {
      const results = await store.claim(wanted.map((draft) => ({ ...draft, ...rename(draft) })))
      return results.map((result, i) =>
        result.won ? result : { ...result, found: back(result.found, wanted[i] as Draft) as Receipt },
      )
    },
    swap: async (changes) =>
      await store.swap(changes.map(({ expect, next }) => ({ expect, next: { ...next, ...rename(next) } }))),
    async get(addresses) {
      const { now, receipts } = await store.get(addresses.map(rename))
      return { now, receipts: receipts.map((receipt, i) => back(receipt, addresses[i] as Address)) }
    },
  }
}

function back(receipt: Receipt | undefined, { tenant, scope, key }: Address): Receipt | undefined {
  return receipt && { ...receipt, tenant, scope, key }
}

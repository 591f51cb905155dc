/**
 * Group commit: whatever waits while a batch is on its way is the next batch. There is no timer: an idle
 * store gets a lone operation at once, a busy one gets full batches. Each verb has a queue of its own, so
 * that a renewal never stands behind a thousand claims.
 */
import type { Address, Draft, Receipt } from '../core/receipt.js'
import type { Claimed, Store, Swap, Swapped } from '../store.js'

export interface GroupCommit {
  claim(wanted: Draft): Promise<Claimed>
  swap(change: Swap): Promise<Swapped>
  get(address: Address): Promise<{ readonly now: number; readonly receipt: Receipt | undefined }>
}

export function createGroupCommit(store: Store): GroupCommit {
  const { maxBatch, lanes } = store
  return {
    claim: queue(maxBatch, lanes, (wanted: Draft[]) => store.claim(wanted)),
    swap: queue(maxBatch, lanes, (changes: Swap[]) => store.swap(changes)),
    get: queue(maxBatch, lanes, async (addresses: Address[]) => {
      const { now, receipts } = await store.get(addresses)
      return receipts.map((receipt) => ({ now, receipt }))
    }),
  }
}

interface Waiting<In, Out> {
  readonly input: In
  readonly resolve: (output: Out) => void
  readonly reject: (error: unknown) => void
}

function queue<In, Out>(
  maxBatch: number,
  lanes: number,
  send: (batch: In[]) => Promise<readonly Out[]>,
): (input: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = []
  let onTheirWay = 0
  let scheduled = false

  async function trip(batch: Waiting<In, Out>[]): Promise<void> {
    onTheirWay++
    try {
      const outputs = await send(batch.map((one) => one.input))
      for (let i = 0; i < batch.length; i++) (batch[i] as Waiting<In, Out>).resolve(outputs[i] as Out)
    } catch (error) {
      for (const one of batch) one.reject(error)
    }
    onTheirWay--
    schedule()
  }

  function pump(): void {
    scheduled = false
    while (waiting.length > 0 && onTheirWay < lanes) {
      const batch = waiting.length <= maxBatch ? waiting : waiting.slice(0, maxBatch)
      waiting = waiting.length <= maxBatch ? [] : waiting.slice(maxBatch)
      void trip(batch)
    }
  }

  // After the microtasks that are already due: whatever the same turn of the loop asks for goes together.
  function schedule(): void {
    if (scheduled || waiting.length === 0 || onTheirWay >= lanes) return
    scheduled = true
    queueMicrotask(() => process.nextTick(pump))
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      schedule()
    })
}

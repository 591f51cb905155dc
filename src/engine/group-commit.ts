/**
 * Group commit: whatever waits while a batch is on its way is the next batch. There is no timer: an idle
 * store gets a lone operation at once, a busy one gets full batches, and the last lane takes nothing else. Each
 * verb has a queue of its own, so that a renewal never stands behind a thousand claims.
 */
import { storeFailure } from '../core/errors.js'
import type { Address, Draft, Receipt } from '../core/receipt.js'
import type { Claimed, Store, Swap, Swapped } from '../store.js'

export interface GroupCommit {
  claim(wanted: Draft): Promise<Claimed>
  /** `atOnce`: nobody else is about to ask for anything, so there is nothing to wait for. */
  swap(change: Swap, atOnce?: boolean): Promise<Swapped>
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

/** Whose the answers are cannot be told: as if there were none. */
function unequal(asked: number, answered: number): Error {
  const action = 'have testStore look at the store: it answers a batch one by one, in its order'
  return storeFailure(`it gave ${answered} answers to ${asked} questions`, action, true)
}

/** Those who wait for a batch, side by side: what each asked, and how to tell it the answer. */
interface Batch<In, Out> {
  readonly inputs: In[]
  readonly resolves: ((output: Out) => void)[]
  readonly rejects: ((error: unknown) => void)[]
}

function queue<In, Out>(
  maxBatch: number,
  lanes: number,
  send: (batch: In[]) => Promise<readonly Out[]>,
): (input: In, atOnce?: boolean) => Promise<Out> {
  const open = Math.max(1, lanes - 1)
  /** The last one is still being filled. */
  const waiting: Batch<In, Out>[] = []
  let filling: Batch<In, Out> | undefined
  let onTheirWay = 0
  let scheduled = false
  /** Was the last batch more than one caller's? */
  let isCrowd = false

  async function trip({ inputs, resolves, rejects }: Batch<In, Out>): Promise<void> {
    onTheirWay++
    isCrowd = inputs.length > 1
    try {
      const outputs = await send(inputs)
      if (outputs.length !== inputs.length) throw unequal(inputs.length, outputs.length)
      for (let i = 0; i < resolves.length; i++) resolves[i]?.(outputs[i] as Out)
    } catch (error) {
      for (const reject of rejects) reject(error)
    }
    onTheirWay--
    schedule()
  }

  function isFull({ inputs }: Batch<In, Out>): boolean {
    return inputs.length >= maxBatch
  }

  function mayLeave(batch: Batch<In, Out> | undefined): batch is Batch<In, Out> {
    return batch !== undefined && onTheirWay < (isFull(batch) ? lanes : open)
  }

  function pump(): void {
    for (let batch = waiting[0]; mayLeave(batch); batch = waiting[0]) {
      waiting.shift()
      if (batch === filling) filling = undefined
      void trip(batch)
    }
  }

  function due(): void {
    scheduled = false
    pump()
  }

  // After the microtasks that are already due, and those that follow from them: whatever the same callback asks for
  // goes together. Of a crowd, whatever the same turn of the loop asks for, which is one callback for each connection.
  function schedule(): void {
    const [next] = waiting
    if (scheduled || !mayLeave(next)) return
    scheduled = true
    if (isCrowd && !isFull(next)) setImmediate(due)
    else queueMicrotask(() => queueMicrotask(due))
  }

  function roomFor(): Batch<In, Out> {
    if (filling === undefined || isFull(filling)) {
      filling = { inputs: [], resolves: [], rejects: [] }
      waiting.push(filling)
    }
    return filling
  }

  return (input, atOnce) =>
    new Promise((resolve, reject) => {
      const batch = roomFor()
      batch.inputs.push(input)
      batch.resolves.push(resolve)
      batch.rejects.push(reject)
      // A full one has nothing to wait for: the store works on it while the rest of this turn goes on.
      if (atOnce || isFull(batch)) pump()
      else schedule()
    })
}

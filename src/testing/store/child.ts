/** The script of the suite's other processes: opens the store under test, claims and swaps, or loads it for ever. */
import type { Draft } from '../../core/receipt.js'
import type { Claimed, Store, Swap, Swapped } from '../../store.js'
import { ledger } from '../ledger.js'
import { serve } from '../process/serve.js'
import { change, draft } from './drafts.js'

/** What the default export of `options.module` gets. */
export interface ChildContext {
  readonly id: string
  readonly directory: string
  /** Milliseconds that its clock is ahead of this computer's. */
  readonly offsetMs: number
}

export interface Opening {
  readonly module: string
  readonly context: ChildContext
}

/** What the loading process had acknowledged, as it stands in the ledger under the receipt's key. */
export interface Acknowledged {
  readonly token: string
  readonly state: 'pending' | 'succeeded'
}

let store: Store | undefined

function opened(): Store {
  return store as Store
}

async function load(file: string): Promise<void> {
  const acknowledged = ledger(file)
  for (;;) {
    const wanted = [draft(), draft(), draft()]
    await opened().claim(wanted)
    for (const { key, token } of wanted) acknowledged.append(key, { token, state: 'pending' })
    const { receipts } = await opened().get(wanted)
    const stored = receipts.filter((receipt) => receipt !== undefined)
    await opened().swap(stored.map((receipt) => change(receipt, 'succeeded')))
    for (const { key, token } of wanted) acknowledged.append(key, { token, state: 'succeeded' })
  }
}

serve(
  {
    async open({ module, context }: Opening): Promise<void> {
      const { default: open } = (await import(module)) as {
        default: (context: ChildContext) => Store | Promise<Store>
      }
      store = await open(context)
    },
    claim: async (batches: readonly Draft[][]): Promise<readonly (readonly Claimed[])[]> =>
      await Promise.all(batches.map(async (batch) => await opened().claim(batch))),
    swap: async (batches: readonly Swap[][]): Promise<readonly (readonly Swapped[])[]> =>
      await Promise.all(batches.map(async (batch) => await opened().swap(batch))),
    load: async (file: string) => await Promise.race([load(file), load(file), load(file)]),
  },
  async () => await store?.close(),
)

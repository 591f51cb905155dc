/**
 * The bench that each test of the suite gets: a fresh store, more handles on the same data, and a way to let time
 * pass. What was opened is closed and removed when the test ends, whatever came of it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Receipt } from '../../core/receipt.js'
import type { Store } from '../../store.js'
import { createClock, type RunningClock } from '../clock.js'
import { HOUR_MS } from './drafts.js'
import { must } from './expect.js'

/** Where one test keeps its data. A second open with the same context finds the data of the first. */
export interface StoreContext {
  /** Letters and digits, never used before: for the name of a table, a database, a prefix. */
  readonly id: string
  /** An empty directory of this test; removed after it. */
  readonly directory: string
  readonly clock: RunningClock
}

export type OpenStore = (context: StoreContext) => Store | Promise<Store>

export interface TransactAccess {
  /** Writes and reads a text of the caller's inside a transaction of the store. */
  write(this: void, tx: unknown, name: string, value: string): unknown
  read(this: void, tx: unknown, name: string): unknown
}

export interface TestStoreOptions {
  /**
   * Where the store takes its time from. `clock`: from `context.clock`, which the suite moves, also backwards.
   * `server`: from a computer of its own; the suite waits, and shifts this process's clock to see that it is
   * ignored. `process` (default): from this computer; the suite waits.
   */
  readonly time?: 'clock' | 'server' | 'process'
  /** Does the data outlive `close`, and can it be opened more than once? Default true. */
  readonly durable?: boolean
  /**
   * An ES module whose default export takes `{ id, directory, offsetMs }` and opens, in another process, the
   * store that `open` opens here; its clock is `offsetMs` ahead. Without it nothing is proved over processes.
   */
  readonly module?: string | URL
  /** How many of them. Default 8. */
  readonly processes?: number
  /** How to write and read in a transaction: required of a store that offers `transact`. */
  readonly transact?: TransactAccess
  /** Removes what a test left outside its directory. */
  readonly clean?: (context: StoreContext) => unknown
}

export interface Bench {
  readonly store: Store
  readonly context: StoreContext
  readonly options: TestStoreOptions
  /** One more handle on the same data. */
  readonly open: () => Promise<Store>
  /** Until the store's clock is `ms` further. */
  readonly advance: (ms: number) => Promise<void>
}

let opened = 0

export async function withBench(
  openStore: OpenStore,
  options: TestStoreOptions,
  test: (bench: Bench) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ibid-store-'))
  const id = `t${process.pid}x${Date.now().toString(36)}x${++opened}`
  const context = { id, directory, clock: createClock() }
  const handles: Store[] = []
  async function open(): Promise<Store> {
    const store = await openStore(context)
    handles.push(store)
    return store
  }
  try {
    const store = await open()
    await test({
      store,
      context,
      options,
      open,
      advance: async (ms) => (options.time === 'clock' ? context.clock.advance(ms) : await pass(store, ms)),
    })
  } finally {
    await Promise.allSettled(handles.map((store) => store.close()))
    await options.clean?.(context)
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

export async function nowOf(store: Store): Promise<number> {
  return (await store.get([])).now
}

/** The receipt at an address, which has to be there. */
export async function found(
  store: Store,
  address: { readonly tenant: string; readonly scope: string; readonly key: string },
): Promise<Receipt> {
  const { receipts } = await store.get([address])
  return must(receipts[0], `a store must still have the receipt at ${JSON.stringify(address.key)}`)
}

async function pass(store: Store, ms: number): Promise<void> {
  const end = (await nowOf(store)) + Math.min(ms, HOUR_MS)
  for (let now = await nowOf(store); now < end; now = await nowOf(store)) await sleep(Math.max(1, end - now))
}

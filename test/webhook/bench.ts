/** A webhook on a store that counts what it is asked to write, with effects that are counted apart from it. */
import { onTestFinished } from 'vitest'
import { createIbid, type Ibid, type IbidOptions } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type FaultPlan, type FaultyStore, faultyStore } from '../../src/testing/faulty-store.js'

export interface Bench {
  readonly ibid: Ibid
  readonly store: FaultyStore
  /** One entry per effect. */
  readonly effects: string[]
  /** Everything that could have changed the store. */
  writes(): number
}

export function bench(options: Partial<IbidOptions> = {}, plan: FaultPlan = {}): Bench {
  const store = faultyStore(memoryStore(), plan)
  const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, ...options })
  onTestFinished(() => ibid.close())
  return {
    ibid,
    store,
    effects: [],
    writes: () => store.calls('claim') + store.calls('swap') + store.calls('record'),
  }
}

export async function told(answer: Response | Promise<Response>): Promise<{
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Headers
}> {
  const response = await answer
  const text = await response.text()
  return {
    status: response.status,
    body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text },
    headers: response.headers,
  }
}

/** Something to wait for until the test lets go. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: ((value: T) => void) | undefined
  const opened = new Promise<T>((resolve) => (open = resolve))
  return { opened, open: (value) => open?.(value) }
}

/**
 * Work that goes on over outages, and its books: what was acknowledged and which effects happened, kept apart from
 * the store. Every action is tried under the same key until it is settled, or until somebody says that it is held.
 */
import { createIbid, type Ibid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { draft } from '../../src/testing/store/drafts.js'

export interface Books {
  /** Key → the value that a caller was told. */
  readonly acknowledged: Map<string, string>
  /** Key → how often its effect happened. */
  readonly effects: Map<string, number>
  /** Key → the token of a claim that the store said was won. */
  readonly claims: Map<string, string>
  /** What callers were told instead, by code. */
  readonly refusals: Map<string, number>
}

export interface Load {
  readonly books: Books
  readonly ibid: Ibid
  stop(): Promise<void>
}

export function startLoad(store: Store, callers = 16): Load {
  const books: Books = { acknowledged: new Map(), effects: new Map(), claims: new Map(), refusals: new Map() }
  const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
  const stopping = new AbortController()
  let made = 0

  async function act(): Promise<void> {
    const key = `action-${++made}`
    for (let tried = 1; !stopping.signal.aborted && tried <= 200; tried++) {
      try {
        const { value } = await ibid.once(
          { scope: 'pay', key, payload: { key } },
          () => {
            books.effects.set(key, (books.effects.get(key) ?? 0) + 1)
            return `paid ${key}`
          },
          { lease: '10s', window: '1h', recovery: 'hold' },
        )
        books.acknowledged.set(key, value)
        return
      } catch (error) {
        const code = (error as { code?: string }).code ?? String(error)
        books.refusals.set(code, (books.refusals.get(code) ?? 0) + 1)
        if (code === 'OUTCOME_UNKNOWN') return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  async function claim(): Promise<void> {
    const wanted = [draft({ scope: 'raw' }), draft({ scope: 'raw' })]
    try {
      const answers = await store.claim(wanted)
      answers.forEach(({ won }, i) => won && books.claims.set(wanted[i]?.key ?? '', wanted[i]?.token ?? ''))
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async function until(work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) await work()
  }

  const running = [...Array.from({ length: callers }, () => until(act)), until(claim), until(claim)]
  return {
    books,
    ibid,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** What of the books the store no longer has, and which effects happened twice. */
export async function audit(store: Store, books: Books): Promise<{ lost: string[]; twice: string[] }> {
  const lost: string[] = []
  const settled = [...books.acknowledged]
  const claimed = [...books.claims]
  for (let i = 0; i < Math.max(settled.length, claimed.length); i += 500) {
    const some = settled.slice(i, i + 500)
    const { receipts } = await store.get(some.map(([key]) => ({ tenant: 'acme', scope: 'pay', key })))
    receipts.forEach((receipt, j) => {
      const [key, value] = some[j] as [string, string]
      const kept = receipt?.state === 'succeeded' && receipt.outcome === JSON.stringify({ value })
      if (!kept) lost.push(`settlement of ${key}`)
    })
    const raw = claimed.slice(i, i + 500)
    const looked = await store.get(raw.map(([key]) => ({ tenant: 'acme', scope: 'raw', key })))
    looked.receipts.forEach((receipt, j) => {
      const [key, token] = raw[j] as [string, string]
      if (receipt?.token !== token) lost.push(`claim of ${key}`)
    })
  }
  const twice = [...books.effects].filter(([, count]) => count > 1).map(([key]) => key)
  return { lost, twice }
}

/** Receipts to test with: what the engine would ask a store to write, with an address that no other test has. */
import type { Draft, Receipt, State } from '../../core/receipt.js'
import type { Claimed, Store, Swap, Swapped } from '../../store.js'
import { holds, must } from './expect.js'

/** So long that it does not end in a test, and so short that it ends when the test lets time pass. */
export const HOUR_MS = 3_600_000
export const SHORT_MS = 20

let made = 0

export function draft(fields: Partial<Draft> = {}): Draft {
  const number = ++made
  return {
    tenant: 'acme',
    scope: 'refund',
    key: `key-${process.pid}-${number}`,
    fingerprint: `fingerprint-${number}`,
    state: 'pending',
    token: `token-${process.pid}-${number}`,
    attempt: 1,
    maxAttempts: 5,
    recovery: 'hold',
    leaseMs: 30_000,
    windowMs: 86_400_000,
    outcome: null,
    epoch: null,
    createdAt: null,
    forMs: HOUR_MS,
    audit: { event: 'claimed' },
    ...fields,
  }
}

/** What a receipt would be written back as, with its stamps kept, in another state. */
export function next(receipt: Receipt, state: State, fields: Partial<Draft> = {}): Draft {
  const { at: _at, until: _until, ...kept } = receipt
  const outcome = state === 'succeeded' ? '{"value":{"id":"re_1"}}' : null
  return { ...kept, state, outcome, forMs: HOUR_MS, audit: { event: 'settled' }, ...fields }
}

export function change(receipt: Receipt, state: State, fields: Partial<Draft> = {}): Swap {
  return { expect: { token: receipt.token, state: receipt.state }, next: next(receipt, state, fields) }
}

/** Claims an address that is free, and reads it back. */
export async function put(store: Store, fields: Partial<Draft> = {}): Promise<Receipt> {
  const wanted = draft(fields)
  const [claimed] = await store.claim([wanted])
  holds(claimed?.won === true, 'a store must insert a receipt whose address is free')
  const { receipts } = await store.get([wanted])
  return must(receipts[0], 'a store must have the receipt that it said it inserted')
}

/** Claims an address that is free, and brings it into `state` as the engine would. */
export async function putAs(store: Store, state: State, fields: Partial<Draft> = {}): Promise<Receipt> {
  const pending = await put(store, { ...fields, state: 'pending', outcome: null })
  if (state === 'pending') return pending
  const changed = change(pending, state, { forMs: fields.forMs === undefined ? HOUR_MS : fields.forMs })
  await swapped(store, changed)
  const { receipts } = await store.get([pending])
  return must(receipts[0], 'a store must keep a receipt that was replaced')
}

export async function swapped(store: Store, wanted: Swap): Promise<Swapped & { done: true }> {
  const [result] = await store.swap([wanted])
  holds(result?.done === true, 'a store must replace a receipt that is as expected')
  return result
}

/** The receipt that a won draft has to have become. */
export function stamped(wanted: Draft, claimed: Claimed & { won: true }): Receipt {
  const { audit: _audit, forMs, ...content } = wanted
  const { now, epoch } = claimed
  return { ...content, epoch, createdAt: now, at: now, until: forMs === null ? null : now + forMs }
}

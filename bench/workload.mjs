/** What every measurement writes: random keys, a payload and a result of about 300 bytes each. */
import { randomUUID } from 'node:crypto'

/** The same for one caller, who needs longer: so many calls. */
export const WARM_UP = 5_000
export const TENANT = 'bench'
export const SCOPE = 'tool:issue_refund'

export const newKey = () => randomUUID()

const NOTE =
  'refunded at the request of the customer after the second parcel was lost on its way; agreed by phone'

export function payloadOf(key) {
  return {
    payment: `pay_${key}`,
    amount: 14_000,
    currency: 'INR',
    customer: { id: 'cus_8123', country: 'IN' },
    reason: 'requested_by_customer',
    note: NOTE,
    items: 3,
  }
}

export function resultOf(key) {
  return {
    id: `re_${key}`,
    object: 'refund',
    amount: 14_000,
    currency: 'INR',
    status: 'succeeded',
    created: 1_789_000_000,
    description: NOTE,
    receipt_number: null,
    balance_transaction: 'txn_1MiN3gLkdIwHu7ix',
  }
}

/** So many callers at work until the code is compiled, before their time is taken: ours, raw and peers alike. */
export async function warmUp(ms, callers, one) {
  const endMs = performance.now() + ms
  async function caller() {
    do await one()
    while (performance.now() < endMs)
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

/** Runs `one(i)` for i in 0..count-1 with `callers` of them at a time, and looks at each result; how many a second. */
export async function perSecond(count, callers, one, look = () => {}) {
  let next = 0
  async function caller() {
    for (let i = next++; i < count; i = next++) look(await one(i))
  }
  const startMs = performance.now()
  await Promise.all(Array.from({ length: callers }, caller))
  return Math.round((count / (performance.now() - startMs)) * 1_000)
}

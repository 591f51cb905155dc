/**
 * The outside world that asks for refunds: a payment provider that sends signed webhooks until somebody answers 2xx,
 * and sends some again although somebody did; and people in support who click. Both reach whichever
 * instance is alive, and come again when it died over their request.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDeadline } from '../../guards/http/deadline.js'
import { sign, SIGNATURE_HEADER } from './signature.js'
import type { Charge, Order, Storm } from './storm.js'

export const WEBHOOK_PATH = '/hooks/stripe'
const CLICK_PATH = '/support/refunds'

export interface Sending {
  /** Everything was answered with 2xx. */
  readonly done: boolean
  /** Requests that were not answered with 2xx yet. */
  readonly open: number
  /** What the last request that was not accepted was told. */
  readonly lastRefusal: string
  /** When the first webhook of a charge was sent. */
  readonly firstSentMs: ReadonlyMap<string, number>
}

export interface SendOptions {
  readonly storm: Storm
  readonly secret: string
  /** An instance that is alive; undefined: none is, right now. */
  readonly instance: () => string | undefined
  /** Nobody is to send anything any more. */
  readonly signal: AbortSignal
}

const PATIENCE_MS = 5_000
const AGAIN_MS = 150

export function startSending({ storm, secret, instance, signal }: SendOptions): Sending {
  const firstSentMs = new Map<string, number>()
  // Every request that is on its way listens to it.
  setMaxListeners(0, signal)
  let open = 0
  let lastRefusal = 'none'

  async function insist(path: string, request: () => { headers: Record<string, string>; body: string }) {
    while (!signal.aborted && !(await isAccepted(path, request()))) await sleep(AGAIN_MS)
  }

  async function isAccepted(path: string, request: { headers: Record<string, string>; body: string }) {
    const url = instance()
    if (url === undefined) return false
    const patience = startDeadline(PATIENCE_MS, signal)
    try {
      const answer = await fetch(`${url}${path}`, { method: 'POST', ...request, signal: patience.signal })
      const said = await answer.text()
      if (!answer.ok) lastRefusal = `${path}: ${answer.status} ${said.slice(0, 300)}`
      return answer.ok
    } catch (error) {
      lastRefusal = `${path}: ${String(error)}`
      return false
    } finally {
      patience.clear()
    }
  }

  async function at(ms: number, act: () => Promise<void>): Promise<void> {
    open++
    await sleep(ms)
    await act()
    open--
  }

  async function webhook(charge: Charge): Promise<void> {
    if (!firstSentMs.has(charge.charge)) firstSentMs.set(charge.charge, Date.now())
    const body = JSON.stringify(eventOf(charge))
    // A signature is as old as its delivery: every try gets a new one.
    await insist(WEBHOOK_PATH, () => ({ headers: { [SIGNATURE_HEADER]: sign(body, secret) }, body }))
  }

  async function click(charge: Charge, form: string): Promise<void> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `${charge.charge}-${form}` }
    const body = JSON.stringify(orderOf(charge))
    await insist(CLICK_PATH, () => ({ headers, body }))
  }

  for (const charge of storm.charges) {
    void at(charge.startMs, async () => await webhook(charge))
    for (const copyMs of charge.copiesMs) void at(copyMs, async () => await webhook(charge))
    for (const form of charge.clicks) void at(charge.startMs + 50, async () => await click(charge, form))
  }
  return {
    get done() {
      return open === 0
    },
    get open() {
      return open
    },
    get lastRefusal() {
      return lastRefusal
    },
    firstSentMs,
  }
}

function eventOf(charge: Charge): object {
  const id = `evt_${charge.charge}`
  return { id, object: 'event', type: 'charge.refunded', data: { object: orderOf(charge) } }
}

function orderOf({ charge, amountCents, customer }: Charge): Order {
  return { charge, amountCents, customer }
}

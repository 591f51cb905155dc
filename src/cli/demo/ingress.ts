/**
 * Where refunds come in: the webhook and the button of the support page, both handed to the queue. A 2xx is given when
 * the message is in the queue, and not before. With the layer, an event id and a form's key are handed over once;
 * without it, a signature is still checked, and every request becomes a message.
 */
import type { Ibid } from '../../ibid.js'
import { idempotent } from '../../guards/http/index.js'
import { withMessageKey } from '../../guards/queue/index.js'
import { encodeChain, linkOf } from '../../guards/run/index.js'
import { type Source, type StripeEvent, webhook } from '../../guards/webhook/index.js'
import { LEASE_MS, MOST_ATTEMPTS } from './leases.js'
import type { Queue } from './queue.js'
import { WEBHOOK_PATH } from './sender.js'
import type { Order } from './storm.js'

export const CHAIN_HEADER = 'ibid-chain'
const WAIT_MS = 1_000

export type Ingress = (request: Request) => Promise<Response>

export function guardedIngress(ibid: Ibid, queue: Queue, source: Source<StripeEvent>): Ingress {
  const hook = webhook(ibid, {
    source,
    lease: LEASE_MS,
    wait: WAIT_MS,
    enqueue({ headers, event }, attempt) {
      const chain = encodeChain([linkOf(attempt)])
      queue.send({ headers: { ...headers, [CHAIN_HEADER]: chain }, order: orderIn(event.payload) })
    },
  })
  const policy = { lease: LEASE_MS, wait: WAIT_MS, recovery: 'retry', maxAttempts: MOST_ATTEMPTS } as const
  const guard = idempotent(ibid, { policy })
  return async (request) => {
    if (isWebhook(request)) return await hook(request)
    return await guard(request, async (once, attempt) => {
      const order = (await once.json()) as Order
      // The same key however often this runs: putting the message on the queue twice does no harm.
      const link = attempt && linkOf(attempt)
      const headers = link
        ? withMessageKey(`${link.scope} ${link.key}`, { [CHAIN_HEADER]: encodeChain([link]) })
        : {}
      queue.send({ headers, order })
      return accepted()
    })
  }
}

export function openIngress(queue: Queue, source: Source<StripeEvent>): Ingress {
  return async (request) => {
    if (!isWebhook(request)) {
      queue.send({ headers: {}, order: (await request.json()) as Order })
      return accepted()
    }
    const body = new Uint8Array(await request.arrayBuffer())
    const text = new TextDecoder().decode(body)
    const { url, headers } = request
    const verdict = await source.verify({ url, headers, body, text, nowMs: Date.now() })
    if (verdict.kind !== 'event') return new Response(null, { status: 401 })
    queue.send({ headers: {}, order: orderIn(verdict.payload) })
    return accepted()
  }
}

function isWebhook(request: Request): boolean {
  return new URL(request.url).pathname === WEBHOOK_PATH
}

function orderIn(event: StripeEvent): Order {
  return (event['data'] as { readonly object: Order }).object
}

function accepted(): Response {
  return Response.json({ accepted: true }, { status: 202 })
}

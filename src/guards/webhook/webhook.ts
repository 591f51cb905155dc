/**
 * The order of things: raw bytes, signature, tenant, force order, and only then the receipt. Nothing is written for a
 * delivery that is not believed, and nothing that goes wrong ends the vendor's retries before the event is settled.
 */
import { IbidError, invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { quietly } from '../../core/quietly.js'
import type { Ibid, Where } from '../../ibid.js'
import { challengeAnswer, problem } from './answer.js'
import { exactText, readBody } from './body.js'
import { eventOf, type WebhookEvent } from './event.js'
import { execute } from './execute.js'
import { recordForce } from './force.js'
import { readOptions, type Settings, type WebhookOptions } from './options.js'
import type { Signed } from './source.js'
import { warnShared } from './warn-shared.js'

export type Webhook = (request: Request) => Promise<Response>

export function webhook<P = unknown, T = unknown, Tx = unknown>(
  ibid: Ibid<Tx>,
  options: WebhookOptions<P, T, Tx>,
): Webhook {
  if (typeof ibid?.once !== 'function') {
    throw invalidIntent('webhook got no ibid', 'give webhook(createIbid({ store }), { source, handle })')
  }
  const settings = readOptions(options)
  warnShared(ibid, settings)
  return async (request) => {
    let event: WebhookEvent<P> | undefined
    try {
      const signed = await verify(request, settings)
      if (signed instanceof Response) return signed
      event = signed.event
      return await settle(ibid, settings, signed)
    } catch (error) {
      // Secrets that cannot be looked up, a resolver that failed, a library that is missing: the vendor comes again.
      tell(settings.onError, error, event)
      const isStore = error instanceof IbidError && error.code === 'STORE_UNAVAILABLE'
      return problem(isStore ? 'STORE_UNAVAILABLE' : 'NOT_HANDLED', 1_000)
    }
  }
}

interface Believed<P> {
  readonly event: WebhookEvent<P>
  readonly identity: unknown
}

async function verify<P, T, Tx>(
  request: Request,
  settings: Settings<P, T, Tx>,
): Promise<Believed<P> | Response> {
  const { source, endpoint } = settings
  if (request.method !== 'POST') return problem('METHOD_NOT_ALLOWED')
  const raw = await readBody(request, settings.maxBytes, settings.bodyMs)
  if (typeof raw === 'string') return problem(raw)
  const { url, headers } = request
  const verdict = await source.verify({
    url,
    headers,
    body: raw,
    text: exactText(raw),
    nowMs: settings.now(),
  })
  switch (verdict.kind) {
    case 'refused':
      tell(settings.onRefused, verdict.reason, { url, headers })
      return problem('SIGNATURE_REFUSED')
    case 'challenge':
      return challengeAnswer(verdict.answer)
    case 'malformed':
      tell(settings.onRefused, verdict.reason, { url, headers })
      return problem('INVALID_EVENT')
    case 'event':
      return believed(verdict, settings, { raw, headers, url, source: source.name, endpoint })
  }
}

function believed<P, T, Tx>(
  signed: Signed<P>,
  settings: Settings<P, T, Tx>,
  from: Pick<WebhookEvent<P>, 'raw' | 'headers' | 'url' | 'source' | 'endpoint'>,
): Believed<P> | Response {
  try {
    checkAddress({ tenant: 'any', scope: 'any', key: signed.id })
  } catch (error) {
    tell(settings.onRefused, (error as Error).message, from)
    return problem('INVALID_EVENT')
  }
  return { event: eventOf(signed, from), identity: signed.identity }
}

async function settle<P, T, Tx>(
  ibid: Ibid<Tx>,
  settings: Settings<P, T, Tx>,
  { event, identity }: Believed<P>,
): Promise<Response> {
  const { tenant, force, scope } = settings
  let where: Where = { scope, key: event.id }
  if (tenant !== undefined) {
    const owner = typeof tenant === 'function' ? await tenant(event) : tenant
    // Not the default of createIbid: an event that is nobody's must not become somebody's.
    if (typeof owner !== 'string' || owner === '') {
      tell(settings.onRefused, 'the tenant resolver knows no tenant for it', event)
      return problem('UNKNOWN_TENANT')
    }
    where = { ...where, tenant: owner }
  }
  const order = await force?.(event)
  if (!order) return await execute(ibid, settings, where, event, identity)
  const forced = { run: order.run, by: order.by, why: order.why }
  where = await recordForce(ibid, where, forced)
  return await execute(ibid, settings, where, { ...event, forced }, identity)
}

/** An observer that throws has not observed anything; the delivery goes on. */
function tell<A extends readonly unknown[]>(observer: ((...said: A) => void) | undefined, ...said: A): void {
  quietly(() => observer?.(...said))
}

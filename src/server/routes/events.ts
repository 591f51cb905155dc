/**
 * Decisions as server-sent events, as this server takes them. A client that comes back with `Last-Event-ID`
 * gets what it missed, as far as that is remembered; one that does not read is let go, so that it costs
 * nothing. A stream ends with the key that opened it.
 */
import type { AuditEvent } from '../../core/audit.js'
import { endWithKey } from '../end-with-key.js'
import { queryOf } from '../fields.js'
import { operation } from '../operation.js'
import { refusal } from '../problem.js'
import type { ApiRequest, Route } from '../route.js'
import { tenantIfAny } from '../tenant-of.js'

const BEAT_MS = 15_000
/** Bytes that may wait for a client that does not read them. */
const MOST_UNREAD = 1_048_576

export const EVENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/events',
    right: 'read',
    about: operation({
      id: 'events',
      summary: 'Decisions as they are taken, as server-sent events',
      query: { tenant: 'only with a key for every tenant' },
      answers: { 200: 'Event' },
      type: 'text/event-stream',
    }),
    handle: stream,
  },
]

async function stream(request: ApiRequest): Promise<undefined> {
  const { at, principal, query, incoming, outgoing } = request
  const tenant = tenantIfAny(principal, queryOf(query, ['tenant'])['tenant'])
  if (at.meters.streams >= at.settings.maxStreams) {
    throw refusal(
      'TOO_MANY_WAITING',
      'too many event streams are open',
      'close one, or come again in a while',
      5_000,
    )
  }
  at.meters.streams++
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  })
  outgoing.write(': ibid\n\n')

  function send(id: number, event: AuditEvent): void {
    if (tenant !== undefined && event.tenant !== tenant) return
    if (outgoing.writableLength > MOST_UNREAD) outgoing.destroy()
    else outgoing.write(`id: ${id}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  const last = Number(incoming.headers['last-event-id'] ?? Number.NaN)
  if (Number.isSafeInteger(last)) for (const [id, event] of at.decisions.since(last)) send(id, event)
  const stopListening = at.decisions.listen(send)
  const beat = setInterval(() => outgoing.write(': still here\n\n'), BEAT_MS)

  function quiet(): void {
    clearInterval(beat)
    stopListening()
  }

  /** Nothing may be written behind the end. Whoever does not read would keep a stop waiting. */
  function end(): void {
    quiet()
    if (outgoing.writableNeedDrain) outgoing.destroy()
    else outgoing.end()
  }

  endWithKey(outgoing, request.isStillGood, end)
  const forget = at.stopping.onStop(end)
  outgoing.on('close', () => {
    at.meters.streams--
    quiet()
    forget()
  })
  return undefined
}

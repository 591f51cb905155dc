/** Responses of an MCP server: one message or a stream of them, and the few that the gateway gives itself. */
import { eventsOf, type ServerEvent } from './events.js'
import { CODES, type JsonObject, refuse } from './message.js'

/** All messages of a response, whichever of the two ways it has; `raw` is empty where it is no stream. */
export async function* partsOf(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) return
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true)
    yield* eventsOf(response.body)
  else yield { raw: '', data: await response.text(), id: undefined, retryMs: undefined }
}

export function isRedirect({ status }: Response): boolean {
  return status >= 300 && status < 400 && status !== 304
}

/** A client that followed it would go round the guard. */
export function redirected(): Response {
  return json(refuse(null, CODES.upstream, 'the upstream sent a redirect, which is not followed'), 502)
}

export function json(message: JsonObject, status = 200): Response {
  return new Response(JSON.stringify(message), { status, headers: { 'content-type': 'application/json' } })
}

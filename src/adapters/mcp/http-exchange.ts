/**
 * One guarded call over HTTP. The upstream may answer with one message or with a stream of them: what else is on
 * the stream goes to the client as it comes, and the answer last, when it is written down. A stream that breaks
 * off before the answer is taken up again where the server allows it; otherwise nobody knows what came of the
 * call.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { NotExecuted } from '../../core/errors.js'
import { eventOf } from './events.js'
import type { Guard, Line, ToolCall } from './guard.js'
import { isRedirect, json, partsOf, redirected } from './http-reply.js'
import { passable, searchOf, type Upstream } from './http-upstream.js'
import { answer, type Id, type JsonObject, parse, replyOf, type Reply } from './message.js'
import { withKey } from './meta.js'

interface Exchange {
  readonly guard: Guard
  readonly upstream: Upstream
  readonly request: Request
  readonly message: JsonObject
  readonly id: Id
  readonly params: JsonObject
  readonly toolCall: ToolCall
  readonly ask: Line['ask']
}

/** Answers that a server gives before it looks at the call. */
const NOT_CARRIED_OUT = new Set([
  301, 302, 307, 308, 400, 401, 403, 404, 405, 406, 411, 413, 415, 421, 426, 429,
])
const RETRY_MS = 1_000
const MOST_RESUMES = 100

/** `response`: as soon as it is known how to answer. `done`: when everything is written down. */
export function guardedExchange(exchange: Exchange): {
  readonly response: Promise<Response>
  readonly done: Promise<void>
} {
  const { guard, upstream, request, message, id, params, toolCall, ask } = exchange
  const client = createClient()
  let refused: Response | undefined

  async function dispatch(key: string): Promise<Reply> {
    const body = JSON.stringify({ ...message, params: withKey(params, toolCall.meta, key) })
    // Without the client's signal: what was sent is seen through.
    const response = await upstream({
      method: 'POST',
      headers: request.headers,
      search: searchOf(request),
      body,
    })
    if (response.ok) return await replyIn(response)
    if (!NOT_CARRIED_OUT.has(response.status)) {
      await response.body?.cancel()
      throw new TypeError(`the upstream answered ${response.status}`)
    }
    refused = response
    throw new NotExecuted(`the upstream answered ${response.status}`)
  }

  async function replyIn(first: Response): Promise<Reply> {
    let lastId: string | undefined
    let response = first
    for (let resumes = 0; ; resumes++) {
      let retryMs = RETRY_MS
      for await (const event of partsOf(response)) {
        const replied = replyOf(parse(event.data))
        if (replied?.id === id) return replied.reply
        lastId = event.id ?? lastId
        retryMs = event.retryMs ?? retryMs
        if (event.raw !== '') client.stream(response, event.raw)
      }
      if (lastId === undefined || resumes >= MOST_RESUMES) break
      await sleep(retryMs)
      const headers = passable(request.headers)
      headers.set('last-event-id', lastId)
      headers.delete('content-type')
      response = await upstream({ method: 'GET', headers, search: searchOf(request) })
      if (!response.ok) break
    }
    throw new TypeError('the upstream ended its answer without a result')
  }

  async function run(): Promise<void> {
    const reply = await guard.call(toolCall, { dispatch, ask })
    if (refused) client.answer(isRedirect(refused) ? redirected() : refused)
    else client.finish(answer(id, reply))
  }

  const done = run().catch((error: unknown) => client.fail(error))
  return { response: client.response, done }
}

/** The client's end: one message, or a stream once there was something to stream. */
function createClient() {
  let ends: { settle(response: Response): void; fail(error: unknown): void } | undefined
  const response = new Promise<Response>((settle, fail) => {
    ends = { settle, fail }
  })
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isOpen = false

  function write(text: string): void {
    // A client that is gone misses it; the call goes on.
    if (isOpen) controller?.enqueue(encoder.encode(text))
  }

  return {
    response,
    fail: (error: unknown) => ends?.fail(error),
    answer: (given: Response) => ends?.settle(given),
    stream(upstream: Response, raw: string) {
      if (!controller) {
        isOpen = true
        const body = new ReadableStream<Uint8Array>({
          start: (given) => void (controller = given),
          cancel: () => void (isOpen = false),
        })
        ends?.settle(new Response(body, { status: upstream.status, headers: passable(upstream.headers) }))
      }
      write(raw)
    },
    finish(message: JsonObject) {
      if (!controller) return ends?.settle(json(message))
      write(eventOf(message))
      if (isOpen) controller.close()
      isOpen = false
    },
  }
}

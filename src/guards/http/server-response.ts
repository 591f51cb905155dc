/**
 * A Node response, held until its receipt is written. What a handler writes in one piece waits for that; what it
 * streams goes out while it is recorded, and only the end waits. A client that goes away is kept from the handler:
 * the effect is under way, and its receipt must not be lost with the connection.
 */
import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Answer } from './exchange.js'
import { REPLAYED } from './kept-headers.js'
import { createRecorder } from './recorder.js'
import type { Run } from './run.js'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[] | readonly string[]
type Pairs = [string, unknown][]
type Done = (error?: Error | null) => void

export function capture(response: ServerResponse, run: Run): void {
  const { write, end, writeHead, flushHeaders, destroy, emit } = response
  const recorder = createRecorder(run.maxResponseBytes)
  /** What stood there before the handler: it goes out with whatever is sent in the handler's place. */
  const before = response.getHeaders()
  /** `held`: nothing has left yet. `open`: it is being streamed. `over`: the handler has ended it, or its time is up. */
  let phase: 'held' | 'open' | 'over' = 'held'
  /** What is written now comes from here, not from the handler. */
  let isOurs = false
  let isGone = false
  let wroteAgain = false
  let head: { readonly reason: string | undefined; readonly headers: Headers | undefined } | undefined
  let sealed: { readonly status: number; readonly headers: Pairs } | undefined

  /** From here on the head is fixed, and what is recorded of it is what is sent. */
  function seal(): { readonly status: number; readonly headers: Pairs } {
    response.removeHeader(REPLAYED)
    const headers: Pairs = Object.entries(response.getHeaders())
    if (head?.headers) headers.push(...pairs(head.headers))
    return { status: response.statusCode, headers }
  }

  function sendHead(): void {
    if (!head) return
    const { reason, headers } = head
    const args = [response.statusCode, reason, headers && withoutReplayed(headers)]
    writeHead.apply(response, args.filter((arg) => arg !== undefined) as Parameters<typeof writeHead>)
  }

  function stream(): void {
    if (phase !== 'held') return
    sealed = seal()
    phase = 'open'
    sendHead()
  }

  function replace(answer: Answer): void {
    phase = 'over'
    isOurs = true
    resetHeaders(response, Object.entries(before))
    sendAnswer(response, answer, end)
  }

  async function settle(wasOpen: boolean, chunk: unknown, encoding: unknown, done?: Done): Promise<void> {
    const { status, headers } = (sealed ??= seal())
    const answer = await run.finish({ status, headers, body: recorder.body(), bytes: recorder.bytes })
    isOurs = true
    if (answer && !wasOpen) return replace(answer)
    // Broken off on purpose: a client must not take for whole what could not be written down.
    if (answer) return void destroy.call(response)
    if (wroteAgain && !wasOpen) {
      // An error handler most likely, which changed the head on its way.
      response.statusCode = status
      resetHeaders(response, headers)
    } else if (!wasOpen) sendHead()
    end.call(response, chunk, encoding as BufferEncoding, done as () => void)
    if (isGone) emit.call(response, 'close')
  }

  run.onInterrupt((answer) => {
    if (phase === 'held') replace(answer)
  })

  response.writeHead = (status: number, ...rest: [(string | Headers)?, Headers?]) => {
    if (isOurs || phase === 'open') return writeHead.call(response, status, ...(rest as []))
    wroteAgain ||= phase === 'over'
    if (wroteAgain) return response
    const [reason, headers] =
      typeof rest[0] === 'string' ? [rest[0], rest[1]] : [undefined, rest[1] ?? rest[0]]
    head = { reason, headers: headers }
    response.statusCode = status
    return response
  }

  response.flushHeaders = () => {
    if (phase === 'over') return
    stream()
    if (!isGone) flushHeaders.call(response)
  }

  response.write = ((chunk: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done) => {
    wroteAgain ||= phase === 'over'
    stream()
    if (phase === 'open') recorder.add(chunk, typeof encoding === 'string' ? encoding : undefined)
    if (!isGone && phase === 'open') return write.call(response, chunk, encoding as BufferEncoding, done)
    const tell = typeof encoding === 'function' ? encoding : done
    if (tell) process.nextTick(tell)
    return true
  }) as typeof write

  response.end = ((...given: unknown[]) => {
    wroteAgain ||= phase === 'over'
    if (wroteAgain) return response
    const [chunk, encoding, done] = endArguments(given)
    if (chunk !== undefined) recorder.add(chunk, encoding)
    const wasOpen = phase === 'open'
    phase = 'over'
    void settle(wasOpen, chunk, encoding, done)
    return response
  }) as typeof end

  response.destroy = (error?: Error) => {
    if (phase !== 'over') void run.fail(error ?? new TypeError('the handler destroyed its response'))
    phase = 'over'
    return destroy.call(response, error)
  }

  response.emit = ((event: string, ...args: unknown[]) => {
    if (event !== 'close' || phase === 'over') return emit.call(response, event, ...args)
    isGone = true
    // Whoever waits for room to write would wait for ever.
    return emit.call(response, 'drain')
  }) as typeof emit
}

export function sendAnswer(response: ServerResponse, answer: Answer, end = response.end): void {
  const { status, headers, body } = answer
  response.statusCode = status
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    if (headers.indexOf(name) < i) response.appendHeader(name, headers[i + 1] as string)
    else response.setHeader(name, headers[i + 1] as string)
  }
  end.call(response, body, 'utf8')
}

function resetHeaders(response: ServerResponse, headers: Pairs): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  for (const [name, value] of headers) response.setHeader(name, value as string)
}

type EndArguments = [string | Uint8Array | undefined, BufferEncoding | undefined, Done | undefined]

function endArguments(given: unknown[]): EndArguments {
  const done = given.find((one) => typeof one === 'function') as Done | undefined
  const [chunk, encoding] = given.filter((one) => one !== done) as [
    (string | Uint8Array | null)?,
    BufferEncoding?,
  ]
  return [chunk ?? undefined, encoding ?? undefined, done]
}

function pairs(headers: Headers): Pairs {
  if (!Array.isArray(headers)) return Object.entries(headers)
  if (Array.isArray(headers[0])) return headers as unknown as Pairs
  return Array.from({ length: headers.length / 2 }, (_, i) => [String(headers[i * 2]), headers[i * 2 + 1]])
}

function withoutReplayed(headers: Headers): Headers {
  const all = pairs(headers)
  if (!all.some(([name]) => name.toLowerCase() === REPLAYED)) return headers
  return all.filter(([name]) => name.toLowerCase() !== REPLAYED).flat() as string[]
}

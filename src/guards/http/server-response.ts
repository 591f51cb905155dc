/**
 * A Node response, held until its receipt is written. What a handler writes in one piece waits for that; what it
 * streams goes out while it is recorded, and only the end waits. A client that goes away is kept from the handler:
 * the effect is under way, and its receipt must not be lost with the connection.
 *
 * The methods stand here once and find their state on the response, so that a request makes no functions of its own.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { clientGone } from './client-gone.js'
import type { Answer } from './exchange.js'
import { type GivenHeaders, type HeaderSource, isNamed, REPLAYED, withoutReplayed } from './kept-headers.js'
import { checkChunk, checkedStatus, checkHeaders } from './node-refusals.js'
import { createRecorder, type Recorder } from './recorder.js'
import type { Run } from './run.js'
import { resetHeaders, setListed } from './set-headers.js'

type Done = (error?: Error | null) => void

interface Head {
  readonly status: number
  readonly reason: string | undefined
  readonly headers: GivenHeaders | undefined
}

interface State {
  readonly run: Run
  readonly recorder: Recorder
  /** What stood there before the handler: it goes out with whatever is sent in the handler's place. */
  readonly before: OutgoingHttpHeaders
  /** The methods as they were. */
  readonly write: ServerResponse['write']
  readonly end: ServerResponse['end']
  readonly writeHead: ServerResponse['writeHead']
  readonly flushHeaders: ServerResponse['flushHeaders']
  readonly destroy: ServerResponse['destroy']
  readonly emit: ServerResponse['emit']
  /** `held`: nothing has left yet. `open`: it is being streamed. `over`: the handler ended it, or its time is up. */
  phase: 'held' | 'open' | 'over'
  /** What is written now comes from here, not from the handler. */
  isOurs: boolean
  isGone: boolean
  /** Its `close` was kept from the handler, and is still to be told. */
  owesClose: boolean
  /** The run is over without the handler, which streams on: there is nothing left to keep from it. */
  isLate: boolean
  wroteAgain: boolean
  head: Head | undefined
  sealed: { readonly status: number; readonly set: OutgoingHttpHeaders } | undefined
}

const STATE = Symbol('ibid response')
type Held = ServerResponse & { [STATE]: State }

/** False: its client is gone, the key is given back, and the handler is not to be called. */
export function capture(response: ServerResponse, run: Run): boolean {
  if (response.destroyed) {
    void run.fail(clientGone())
    return false
  }
  const { write, end, writeHead, flushHeaders, destroy, emit } = response
  const held = response as Held
  held[STATE] = {
    run,
    recorder: createRecorder(run.maxResponseBytes),
    before: response.getHeaders(),
    write,
    end,
    writeHead,
    flushHeaders,
    destroy,
    emit,
    phase: 'held',
    isOurs: false,
    isGone: false,
    owesClose: false,
    isLate: false,
    wroteAgain: false,
    head: undefined,
    sealed: undefined,
  }
  response.write = heldWrite as typeof write
  response.end = heldEnd as typeof end
  response.writeHead = heldWriteHead
  response.flushHeaders = heldFlushHeaders
  response.destroy = heldDestroy
  response.emit = heldEmit as typeof emit
  run.onInterrupt((answer) => interrupt(held, held[STATE], answer))
  return true
}

function interrupt(response: Held, state: State, answer: Answer): void {
  if (state.phase === 'held') instead(response, state, false, answer)
  state.isLate = true
  tellClose(response, state)
}

function heldWriteHead(this: Held, status: number, ...rest: [(string | GivenHeaders)?, GivenHeaders?]): Held {
  const state = this[STATE]
  if (state.isOurs || state.phase === 'open') {
    state.writeHead.call(this, status, ...(rest as []))
  } else if (state.phase === 'over') {
    state.wroteAgain = true
  } else {
    state.head = readHead(status, rest)
    this.statusCode = state.head.status
  }
  return this
}

function readHead(given: number, [first, second]: [(string | GivenHeaders)?, GivenHeaders?]): Head {
  const reason = typeof first === 'string' ? first : undefined
  const headers = typeof first === 'string' ? second : (second ?? first)
  const status = checkedStatus(given, reason)
  if (headers) checkHeaders(headers)
  return { status, reason, headers }
}

function heldFlushHeaders(this: ServerResponse): void {
  const state = (this as Held)[STATE]
  if (state.phase === 'over') return
  stream(this as Held, state)
  if (!state.isGone) state.flushHeaders.call(this)
}

function heldWrite(
  this: Held,
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | Done,
  done?: Done,
): boolean {
  const state = this[STATE]
  if (state.phase === 'over') state.wroteAgain = true
  else {
    checkChunk(chunk, encoding)
    stream(this, state)
    state.recorder.add(chunk, typeof encoding === 'string' ? encoding : undefined)
    if (!state.isGone) return state.write.call(this, chunk, encoding as BufferEncoding, done)
  }
  const tell = typeof encoding === 'function' ? encoding : done
  if (tell) process.nextTick(tell)
  return true
}

function heldEnd(this: Held, ...given: unknown[]): Held {
  const state = this[STATE]
  const [chunk, encoding, done] = endArguments(given)
  if (state.phase === 'over') {
    state.wroteAgain = true
    // Whoever waits for the end of what was dropped would wait for ever.
    if (done) process.nextTick(done)
    return this
  }
  if (chunk !== undefined) checkChunk(chunk, encoding)
  const wasOpen = state.phase === 'open'
  const { status, set } = (state.sealed ??= seal(this, state))
  if (chunk !== undefined) state.recorder.add(chunk, encoding)
  const headers: HeaderSource[] = state.head?.headers ? [set, state.head.headers] : [set]
  state.phase = 'over'
  void state.run
    .finish({ status, headers, body: state.recorder.body(), bytes: state.recorder.bytes })
    .then((answer) => {
      try {
        if (answer) {
          instead(this, state, wasOpen, answer)
          if (done) process.nextTick(done)
        } else send(this, state, wasOpen, chunk, encoding, done)
      } catch (error) {
        // Nobody is left to hear of it, and it is no reason to end the process with all its other requests.
        state.destroy.call(this, error as Error)
      }
      tellClose(this, state)
    })
  return this
}

function heldDestroy(this: ServerResponse, error?: Error): ServerResponse {
  const state = (this as Held)[STATE]
  if (state.phase !== 'over')
    void state.run.fail(error ?? new TypeError('the handler destroyed its response'))
  state.phase = 'over'
  process.nextTick(tellClose, this, state)
  return state.destroy.call(this, error)
}

function heldEmit(this: Held, event: string, ...args: unknown[]): boolean {
  const state = this[STATE]
  if (event !== 'close' || state.phase === 'over' || state.isLate) {
    return state.emit.call(this, event, ...args)
  }
  state.isGone = true
  state.owesClose = true
  // Whoever waits for room to write would wait for ever.
  return state.emit.call(this, 'drain')
}

/** Whoever counts open responses waits for it, whichever way this one ended. */
function tellClose(response: Held, state: State): void {
  if (!state.owesClose) return
  state.owesClose = false
  state.emit.call(response, 'close')
}

/** From here on the head is fixed, and what is recorded of it is what is sent. */
function seal(
  response: ServerResponse,
  state: State,
): { readonly status: number; readonly set: OutgoingHttpHeaders } {
  response.statusCode = checkedStatus(response.statusCode, response.statusMessage)
  // Another status than writeHead was given: an error handler answers anew, and that head was for another body.
  if (state.head && state.head.status !== response.statusCode) state.head = undefined
  if (response.hasHeader(REPLAYED)) response.removeHeader(REPLAYED)
  return { status: response.statusCode, set: response.getHeaders() }
}

function stream(response: Held, state: State): void {
  if (state.phase !== 'held') return
  state.sealed = seal(response, state)
  state.phase = 'open'
  sendHead(response, state)
}

function sendHead(response: Held, { head, writeHead }: State): void {
  if (!head) return
  const { statusCode } = response
  let headers = head.headers && withoutReplayed(head.headers)
  if (Array.isArray(headers) && response.getHeaderNames().length > 0) {
    setListed(response, headers)
    headers = undefined
  }
  const args = head.reason === undefined ? [statusCode, headers] : [statusCode, head.reason, headers]
  writeHead.apply(response, args as Parameters<typeof writeHead>)
}

function send(
  response: Held,
  state: State,
  wasOpen: boolean,
  chunk: string | Uint8Array | undefined,
  encoding: BufferEncoding | undefined,
  done: Done | undefined,
): void {
  state.isOurs = true
  if (state.wroteAgain && !wasOpen && state.sealed) {
    // An error handler most likely, which changed the head on its way.
    response.statusCode = state.sealed.status
    resetHeaders(response, state.sealed.set)
  }
  if (!wasOpen) sendHead(response, state)
  state.end.call(response, chunk, encoding as BufferEncoding, done as () => void)
}

function instead(response: Held, state: State, wasOpen: boolean, answer: Answer): void {
  state.phase = 'over'
  // Broken off on purpose: a client must not take for whole what could not be written down.
  if (wasOpen || response.headersSent) state.destroy.call(response)
  else replace(response, state, answer)
}

function replace(response: Held, state: State, answer: Answer): void {
  state.isOurs = true
  resetHeaders(response, state.before)
  sendAnswer(response, answer, state.end)
}

/** Nothing, where somebody has answered already: what limits the time of a duplicate that waits, for one. */
export function sendAnswer(response: ServerResponse, answer: Answer, end = response.end): void {
  if (response.headersSent) return
  const { status, headers, body } = answer
  response.statusCode = status
  // One that was meant for another answer, and may be what Node refused of it.
  if (response.statusMessage) response.statusMessage = ''
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    if (isNamed(headers, name, i)) response.appendHeader(name, headers[i + 1] as string)
    else response.setHeader(name, headers[i + 1] as string)
  }
  end.call(response, body, 'utf8')
}

type EndArguments = [string | Uint8Array | undefined, BufferEncoding | undefined, Done | undefined]

function endArguments(given: unknown[]): EndArguments {
  const done = given.find((one) => typeof one === 'function') as Done | undefined
  const [chunk, encoding] = given as [(string | Uint8Array | Done | null)?, (BufferEncoding | Done | null)?]
  return [
    // Node's `end` takes whatever is falsy for no chunk at all.
    typeof chunk === 'function' || !chunk ? undefined : chunk,
    typeof encoding === 'function' || encoding === null ? undefined : encoding,
    done,
  ]
}

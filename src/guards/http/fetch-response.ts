/**
 * A Fetch response, recorded. One whose body is there at once waits until its receipt is written; one that is still
 * being made is passed on while it is recorded, and only its end waits. It is read to its end in any case: a client
 * that goes away does not take the receipt with it.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Answer } from './exchange.js'
import { REPLAYED } from './kept-headers.js'
import { createRecorder, type Recorder } from './recorder.js'
import type { Run } from './run.js'

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Read = Awaited<ReturnType<Reader['read']>>

/** HTTP knows no body with these, and Response refuses one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

export function toResponse({ status, headers, body }: Answer): Response {
  const byName: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const before = byName[name]
    byName[name] = before === undefined ? (headers[i + 1] as string) : `${before}, ${headers[i + 1]}`
  }
  // A text would be given a type of its own, which the first response did not have.
  const sent = typeof body === 'string' && byName['content-type'] === undefined ? Buffer.from(body) : body
  const isEmpty = BODILESS.has(status) || sent.length === 0
  return new Response(isEmpty ? null : (sent as string), { status, headers: byName })
}

export async function record(response: Response, run: Run): Promise<Response> {
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  headers.delete(REPLAYED)
  const recorder = createRecorder(run.maxResponseBytes)
  const finish = (): Promise<Answer | undefined> =>
    run.finish({ status, headers: [headers], body: recorder.body(), bytes: recorder.bytes })
  const reader = response.body?.getReader() as Reader | undefined
  const { chunks, next } = reader
    ? await readWhatIsThere(reader, recorder, run)
    : { chunks: [], next: undefined }
  if (reader && next) {
    return new Response(passOn(reader, next, chunks, recorder, run, finish), { status, statusText, headers })
  }
  const answer = await finish()
  if (answer) return toResponse(answer)
  return new Response(reader ? Buffer.concat(chunks) : null, { status, statusText, headers })
}

/** `next`: the read that is still waiting, where the body is not complete. */
async function readWhatIsThere(
  reader: Reader,
  recorder: Recorder,
  run: Run,
): Promise<{ readonly chunks: Uint8Array[]; readonly next: Promise<Read> | undefined }> {
  const chunks: Uint8Array[] = []
  for (;;) {
    const next = reader.read()
    // Held by nobody while the race is on; whoever passes it on hears of the failure there.
    next.catch(() => {})
    const got =
      recorder.bytes > run.maxResponseBytes ? undefined : await Promise.race([next, turn(undefined)])
    if (got === undefined) return { chunks, next }
    if (got.done) return { chunks, next: undefined }
    recorder.add(got.value)
    chunks.push(got.value)
  }
}

function passOn(
  reader: Reader,
  first: Promise<Read>,
  chunks: readonly Uint8Array[],
  recorder: Recorder,
  run: Run,
  finish: () => Promise<Answer | undefined>,
): ReadableStream<Uint8Array> {
  let next: Promise<Read> | undefined = first
  let isGone = false

  /** False: that was the end. */
  async function step(to: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    let got: Read
    try {
      got = await (next ?? reader.read())
      next = undefined
    } catch (error) {
      await run.fail(error)
      if (!isGone) to.error(error)
      return false
    }
    if (got.done) {
      const answer = await finish()
      if (isGone) return false
      // Broken off on purpose: a client must not take for whole what could not be written down.
      if (answer) to.error(new TypeError('the receipt could not be written'))
      else to.close()
      return false
    }
    recorder.add(got.value)
    if (!isGone) to.enqueue(got.value)
    return true
  }

  let stepping: Promise<boolean> | undefined
  let controller: ReadableStreamDefaultController<Uint8Array>
  return new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
      for (const chunk of chunks) given.enqueue(chunk)
    },
    async pull() {
      stepping = step(controller)
      await stepping
    },
    cancel() {
      isGone = true
      // When the time of the run is up as well, nothing is left to read it for: it may be one without an end.
      const { signal } = run.attempt
      if (signal.aborted) giveUp()
      else signal.addEventListener('abort', giveUp, { once: true })
      void drain()
    },
  })

  function giveUp(): void {
    reader.cancel().catch(() => {})
  }

  async function drain(): Promise<void> {
    if ((await stepping) === false) return
    while (await step(controller)) continue
  }
}

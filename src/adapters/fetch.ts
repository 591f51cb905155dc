/**
 * `ibid/fetch`: the client side. A fetch whose key is made by whoever decides to act, once for each action, and sent
 * with every try. It repeats what is safe to repeat with that key, the same bytes each time, and never makes a key.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Duration, toMs } from '../core/duration.js'
import { IbidError, invalidIntent } from '../core/errors.js'
import { onlyKnown } from '../core/known.js'
import { LONGEST_TIMER_MS } from '../core/longest-timer.js'
import { startDeadline } from '../guards/http/deadline.js'

export interface KeyedInit extends RequestInit {
  /** One for each action, kept with the step that decided on it. Safe methods need none. */
  readonly key?: string | undefined
}

export interface FetchOptions {
  readonly fetch?: typeof fetch
  /** Tries in all, the first included. Default 5. */
  readonly attempts?: number
  /** Before the second try, where the server names no time; doubled for each further one. Default 200 ms. */
  readonly pause?: Duration
  /** Never waits longer than this between two tries, whatever the server says. Default 30 s. */
  readonly maxPause?: Duration
  /** For one try. Default: none. */
  readonly timeout?: Duration
  /** `string`: quoted, as the standard has it. `bare`: as it is, for servers that take the quotes for a part of it. */
  readonly form?: 'string' | 'bare'
}

const KNOWN = ['fetch', 'attempts', 'pause', 'maxPause', 'timeout', 'form'] satisfies (keyof FetchOptions)[]
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** The server was not reached, or not in time, or asks to come again; with a key, all of these may be repeated. */
const AGAIN: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504])

export function createFetch(
  options: FetchOptions = {},
): (input: string | URL | Request, init?: KeyedInit) => Promise<Response> {
  onlyKnown(options, KNOWN, 'createFetch')
  const { fetch: send = globalThis.fetch, attempts = 5, form = 'string' } = options
  const pauseMs = toMs(options.pause ?? 200, 'pause')
  const maxPauseMs = toMs(options.maxPause ?? '30s', 'maxPause')
  const timeoutMs = options.timeout === undefined ? undefined : toMs(options.timeout, 'timeout')
  if (timeoutMs === 0) throw invalidIntent('timeout is zero', 'give a try some time, or leave timeout out')
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw invalidIntent(`attempts is ${String(attempts)}`, 'give attempts a whole number from 1')
  }

  return async (input, { key, ...init } = {}) => {
    const request = new Request(input, init)
    if (key !== undefined) request.headers.set('idempotency-key', written(key, form))
    else if (!SAFE.has(request.method) && !request.headers.has('idempotency-key'))
      throw keyless(request.method)
    // Serialised once: a form would get another boundary at every try, and a stream can be read only once.
    const body = request.body === null ? undefined : await request.arrayBuffer()
    const { url, method, headers } = request
    // The caller's own. That of the request follows it only as long as the request is kept, and the body is read later.
    const signal = init.signal === undefined && input instanceof Request ? input.signal : init.signal
    for (let tried = 1; ; tried++) {
      const time = timeoutMs === undefined ? undefined : startDeadline(timeoutMs, signal)
      let waitMs = jittered(Math.min(pauseMs * 2 ** (tried - 1), maxPauseMs))
      try {
        // What else the caller said goes along: a dispatcher is what leads through a proxy.
        const said = { ...init, ...choicesOf(request), method, headers, body: body ?? null }
        const response = await send(url, { ...said, signal: time?.signal ?? signal ?? null })
        // The time is also for the body, which is for the caller to read.
        if (tried >= attempts || !(await mayRepeat(response))) return response
        waitMs = Math.min(askedFor(response) ?? waitMs, maxPauseMs)
        time?.clear()
        await response.body?.cancel()
      } catch (error) {
        time?.clear()
        if (signal?.aborted) throw error
        if (tried >= attempts) throw unanswered(tried, error)
      }
      await rest(waitMs, signal)
    }
  }
}

/** What a request carries beside its address, its headers and its body. */
function choicesOf(request: Request): RequestInit {
  const { redirect, integrity, keepalive, credentials, mode, referrer, referrerPolicy } = request
  return { redirect, integrity, keepalive, credentials, mode, referrer, referrerPolicy }
}

async function rest(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  await sleep(Math.min(ms, LONGEST_TIMER_MS), undefined, signal ? { signal } : {}).catch(() => undefined)
  signal?.throwIfAborted()
}

/** A problem that says whether it may be repeated knows better than its status. */
async function mayRepeat(response: Response): Promise<boolean> {
  if (response.ok || response.headers.get('idempotency-replayed') === 'true') return false
  if (!AGAIN.has(response.status)) return false
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) return true
  try {
    const problem = (await response.clone().json()) as { readonly retriable?: unknown } | null
    return problem?.retriable !== false
  } catch {
    return true
  }
}

function askedFor({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  // Only what has a word in it is a date: of "1.5", too, Date.parse would make one, long ago.
  const isDate = /[a-z]/i.test(value)
  const ms = isDate ? Date.parse(value) - Date.now() : /^\d/.test(value) ? Number(value) * 1_000 : Number.NaN
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined
}

/** Half of it fixed, half of it chance, so that clients who failed together do not come back together. */
function jittered(ms: number): number {
  return ms / 2 + (Math.random() * ms) / 2
}

function written(key: string, form: 'string' | 'bare'): string {
  if (key.length > 0 && key.length <= 255 && (form === 'string' ? /^[ -~]+$/ : /^[!-~]+$/).test(key)) {
    return form === 'bare' ? key : `"${key.replaceAll(/["\\]/g, '\\$&')}"`
  }
  throw invalidIntent(
    'the key cannot be sent in a header',
    'use 1 to 255 visible ASCII characters; deriveKey makes such a key out of anything',
  )
}

function keyless(method: string): IbidError {
  return invalidIntent(
    `a ${method} without a key cannot be repeated safely`,
    'make a key where the action is decided, keep it with the step, and give it as { key }',
  )
}

function unanswered(tries: number, cause: unknown): IbidError {
  return new IbidError(`no answer after ${tries} tries; the request may or may not have been carried out`, {
    code: 'UPSTREAM_TIMEOUT',
    retriable: true,
    action: 'make the same request with the same key again later; never with a new key',
    cause,
  })
}

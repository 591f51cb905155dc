/** What a program declares for one endpoint, read and checked when the webhook is made. */
import { type Duration, toMs } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { onlyKnown } from '../../core/known.js'
import { type Attempt, type CheckResult, type Policy, readPolicy } from '../../core/policy.js'
import type { ForceOrder, WebhookEvent } from './event.js'
import type { HandOff } from './handoff.js'
import type { Source } from './source.js'

type Maybe<T> = T | undefined | Promise<T | undefined>

interface Declared<P> {
  readonly source: Source<P>
  /**
   * Names this endpoint. Two endpoints of one vendor get the same events under the same ids: without names of their
   * own they share receipts, and each event is handled by one of them only.
   */
  readonly endpoint?: string
  /** Whose event it is; undefined: nobody's, and it is not handled. Default: the one tenant of `createIbid`. */
  readonly tenant?: string | ((event: WebhookEvent<P>) => Maybe<string>)
  /** How long an event id is remembered. Default 72 h: see docs/webhook.md for how long each vendor repeats. */
  readonly window?: Duration
  readonly lease?: Duration
  /** How long a duplicate waits for the one that is running. Default: as long as the vendor listens. */
  readonly wait?: Duration
  readonly timeout?: Duration
  readonly maxAttempts?: number
  /** What a duplicate is told when the first is still running after `wait`. Default `retry`. */
  readonly inFlight?: 'retry' | 'accept'
  /** Largest body. Default: the largest that the vendor sends. */
  readonly maxBytes?: number
  /** How long the body may take to arrive. Default 10 s. */
  readonly bodyTimeout?: Duration
  /**
   * Asked about every delivery whose signature held: an order to handle it again, or undefined. Only the program can
   * know whether a redelivery is meant: nothing that a vendor sends says so.
   */
  readonly force?: (event: WebhookEvent<P>) => Maybe<ForceOrder>
  /** A delivery that was not believed, and why; for logs. The sender is not told. */
  readonly onRefused?: (reason: string, delivery: { readonly url: string; readonly headers: Headers }) => void
  /** What a handler threw, or what else kept an event from being handled; for logs. */
  readonly onError?: (error: unknown, event: WebhookEvent<P> | undefined) => void
  /** For tests. Default: the clock of this machine. */
  readonly now?: () => number
}

interface Handling<P, T> {
  /** Does the work, once per event. What it returns is kept only where `respond` wants it. */
  readonly handle: (event: WebhookEvent<P>, attempt: Attempt) => T | Promise<T>
  /**
   * What happens to an attempt that failed or died without a word: `hold` it for a person (default), `retry` it with
   * the vendor's next delivery, or `check` first whether it was done.
   */
  readonly recovery?: 'hold' | 'retry' | { readonly check: EventCheck<P, T> }
  /** The answer to a handled event and to each of its duplicates. Default: a short note. */
  readonly respond?: (value: T, event: WebhookEvent<P>) => Response | Promise<Response>
}

export type EventCheck<P, T> = (
  event: WebhookEvent<P>,
  attempt: Attempt,
) => CheckResult<T> | Promise<CheckResult<T>>

export type WebhookOptions<P = unknown, T = unknown, Tx = unknown> = Declared<P> &
  (
    | Handling<P, T>
    | {
        /** As `handle`, in one transaction of the store with the receipt: exactly once. */
        readonly transact: (tx: Tx, event: WebhookEvent<P>, attempt: Attempt) => T | Promise<T>
        readonly respond?: Handling<P, T>['respond']
      }
    | {
        /** Puts the event on a queue. May run more than once for one event; the message's key is the same then. */
        readonly enqueue: (message: HandOff<P>, attempt: Attempt) => unknown
      }
  )

export interface Settings<P, T, Tx> extends Declared<P> {
  readonly scope: string
  readonly policy: Policy<T>
  readonly check: EventCheck<P, T> | undefined
  readonly handle: Handling<P, T>['handle'] | undefined
  readonly transact: ((tx: Tx, event: WebhookEvent<P>, attempt: Attempt) => T | Promise<T>) | undefined
  readonly enqueue: ((message: HandOff<P>, attempt: Attempt) => unknown) | undefined
  readonly respond: Handling<P, T>['respond']
  readonly maxBytes: number
  readonly bodyMs: number
  readonly now: () => number
}

const KNOWN = [
  'source',
  'endpoint',
  'tenant',
  'window',
  'lease',
  'wait',
  'timeout',
  'maxAttempts',
  'inFlight',
  'maxBytes',
  'bodyTimeout',
  'force',
  'onRefused',
  'onError',
  'now',
  'handle',
  'recovery',
  'respond',
  'transact',
  'enqueue',
] satisfies (keyof Declared<unknown> | keyof Handling<unknown, unknown> | 'transact' | 'enqueue')[]

const WINDOW = '72h'
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
const ENDPOINT = /^[\w.-]{1,64}$/
/** Putting a message on a queue again is harmless; its broker may be away for as long as the vendor repeats. */
const MAX_HAND_OFFS = 1_000

export function readOptions<P, T, Tx>(options: WebhookOptions<P, T, Tx>): Settings<P, T, Tx> {
  // A misspelt tenant is none, and its events would go to the default one.
  onlyKnown(options, KNOWN, 'a webhook')
  const { source, endpoint, tenant } = options ?? {}
  const { handle, transact, enqueue, recovery, respond } = options as Partial<Settings<P, T, Tx>> &
    Partial<Handling<P, T>>
  if (typeof source?.verify !== 'function' || !NAME.test(source.name)) {
    throw invalidIntent(
      'webhook got no source, or one whose name is not lower case letters, digits and hyphens',
      'give webhook(ibid, { source: stripe({ secret }), handle })',
    )
  }
  const ways = [handle, transact, enqueue].filter((way) => way !== undefined)
  if (ways.length !== 1 || typeof ways[0] !== 'function') {
    throw invalidIntent('webhook got none or several of handle, transact and enqueue', 'give exactly one')
  }
  if (endpoint !== undefined && !ENDPOINT.test(endpoint)) {
    throw invalidIntent(
      `endpoint is ${JSON.stringify(endpoint)}`,
      'name it with letters, digits, dots and hyphens',
    )
  }
  const scope = endpoint === undefined ? `hook:${source.name}` : `hook:${source.name}/${endpoint}`
  checkAddress({ tenant: typeof tenant === 'string' ? tenant : 'tenant', scope, key: 'key' })
  const check = typeof recovery === 'object' ? recovery.check : undefined
  const policy: Policy<T> = {
    window: options.window ?? WINDOW,
    wait: options.wait ?? source.waitMs,
    ...(options.lease === undefined ? {} : { lease: options.lease }),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(enqueue ? { recovery: 'retry', maxAttempts: MAX_HAND_OFFS } : {}),
    ...(options.maxAttempts === undefined ? {} : { maxAttempts: options.maxAttempts }),
    ...(recovery === undefined || check ? {} : { recovery: recovery as 'hold' | 'retry' }),
  }
  readPolicy(policy)
  return {
    ...options,
    scope,
    policy,
    check,
    handle,
    transact,
    enqueue,
    respond,
    maxBytes: bytes(options.maxBytes ?? source.maxBytes),
    bodyMs: toMs(options.bodyTimeout ?? '10s', 'bodyTimeout'),
    now: options.now ?? Date.now,
  }
}

function bytes(given: number): number {
  if (Number.isSafeInteger(given) && given >= 1) return given
  throw invalidIntent(`maxBytes is ${String(given)}`, 'give maxBytes a whole number of bytes')
}

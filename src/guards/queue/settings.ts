/** What a consumer declares, read and checked once, when it is made: a wrong setting must not wait for a message. */
import { type Duration, toMs } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { onlyKnown } from '../../core/known.js'
import { type Attempt, type CheckResult, type Policy, readPolicy } from '../../core/policy.js'
import { type Identity, readIdentity } from '../../key/identity.js'
import { keyInHeaders } from './message-key.js'
import type { Delays } from './verdict.js'

export type MessageCheck<M, T> = (message: M, attempt: Attempt) => CheckResult<T> | Promise<CheckResult<T>>

export interface ConsumeOptions<M, T = unknown> {
  /** Names the work: two consumers that do different work with the same messages have different names. */
  readonly queue: string
  readonly tenant?: string | ((message: M) => string | undefined) | undefined
  /** The broker's id of the message: the same when it is delivered again. */
  readonly id: (message: M) => string | number | undefined
  /** The producer's key. Default: the `ibid-message-key` header of a message with `headers`. */
  readonly key?: ((message: M) => unknown) | undefined
  /** What the key stands for; the same key with another payload is never executed. Default: nothing is compared. */
  readonly payload?: ((message: M) => unknown) | undefined
  /** Which part of the payload says what is meant: see `ibid/key`. */
  readonly identity?: Identity | undefined
  /** Does the work. Throws `Rejected` for what can never work; any other error is tried again. */
  readonly handle: (message: M, attempt: Attempt) => T | Promise<T>
  /**
   * What happens to a delivery that nobody reported the end of, or that failed: `retry` it (the default; give the
   * handler's downstream `attempt.key`), `check` first whether it was done, or `hold` it for a person.
   */
  readonly recovery?: 'retry' | 'hold' | { readonly check: MessageCheck<M, T> } | undefined
  /** Executions of one message, counted in its receipt. Default 5. */
  readonly maxAttempts?: number | undefined
  /** How long a processed key is remembered. Default 10 min. */
  readonly window?: Duration | undefined
  /** In step with the broker's visibility or ack wait. Default 30 s. */
  readonly lease?: Duration | undefined
  /** How long the handler may take; progress is told until then. Default ten leases. */
  readonly timeout?: Duration | undefined
  /** How long a duplicate of a running message waits for it before it goes back to the broker. Default 0. */
  readonly wait?: Duration | undefined
  /** Before the next attempt of a failed message: 1 s, doubled each time to a minute. At most half of the window. */
  readonly retryDelay?: Duration | ((attempt: number) => Duration) | undefined
  /** Before a message is looked at again that the guard could not judge: its store is down. Default 2 s. */
  readonly guardDelay?: Duration | undefined
  /** Tells the broker that the message is still being worked on; called each third of the lease. */
  readonly working?: ((message: M) => unknown) | undefined
  /** How often the broker has delivered it: bounds what a receipt cannot count, see docs/queue.md. */
  readonly deliveries?: ((message: M) => number | undefined) | undefined
}

/** What an adapter leaves to its user: everything but what its broker knows. */
export type BehindBroker<M, T, Known extends keyof ConsumeOptions<M, T> = never> = Omit<
  ConsumeOptions<M, T>,
  'id' | 'working' | 'deliveries' | Known
>

/** What a program without types gives all the same: passed over, it would be a key, or a limit, that is not there. */
export function notYours(options: object, names: readonly string[], adapter: string): void {
  for (const name of names) {
    if ((options as Record<string, unknown>)[name] === undefined) continue
    throw invalidIntent(
      `${name} is not for ${adapter} to be told: it knows it of its broker`,
      `leave ${name} out`,
    )
  }
}

/** How many messages at a time: none at all would be a consumer that waits for ever. */
export function readConcurrency(given: number | undefined, usual: number): number {
  const atATime = given ?? usual
  if (Number.isSafeInteger(atATime) && atATime >= 1) return atATime
  throw invalidIntent(`concurrency is ${String(given)}`, 'give concurrency a whole number from 1')
}

export interface Settings<M, T> {
  readonly queue: string
  readonly scope: string
  readonly tenantOf: (message: M) => string | undefined
  readonly keyOf: (message: M) => unknown
  readonly idOf: (message: M) => unknown
  readonly payloadOf: (message: M) => unknown
  readonly identity: Identity | undefined
  readonly handle: ConsumeOptions<M, T>['handle']
  readonly check: MessageCheck<M, T> | undefined
  readonly isHeld: boolean
  readonly policy: Policy<T>
  readonly maxAttempts: number
  readonly leaseMs: number
  readonly timeoutMs: number
  readonly delays: Delays
  readonly working: ((message: M) => unknown) | undefined
  readonly deliveries: (message: M) => number | undefined
}

/** A misspelt `recovery` would be a retry where a person was to be asked. Adapters hand on what is theirs, too. */
const KNOWN = [
  'queue',
  'tenant',
  'id',
  'key',
  'payload',
  'identity',
  'handle',
  'recovery',
  'maxAttempts',
  'window',
  'lease',
  'timeout',
  'wait',
  'retryDelay',
  'guardDelay',
  'working',
  'deliveries',
] satisfies (keyof ConsumeOptions<unknown>)[]
const OF_ADAPTERS = [
  'concurrency',
  'deadLetter',
  'onVerdict',
  'onError',
  'onCancel',
  'queueUrl',
  'onPollError',
]

const DEFAULTS = { window: '10m', lease: '30s', wait: 0, guardDelay: '2s' } as const
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000

export function readSettings<M, T>(options: ConsumeOptions<M, T>): Settings<M, T> {
  onlyKnown(options, [...KNOWN, ...OF_ADAPTERS], 'a consumer')
  const { queue, id, handle, recovery = 'retry', tenant } = options ?? {}
  if (typeof id !== 'function' || typeof handle !== 'function') {
    throw invalidIntent(
      `consume got no ${typeof id === 'function' ? 'handle' : 'id'}`,
      'give consume(ibid, { queue, id: (message) => …, handle: async (message, attempt) => … })',
    )
  }
  mustBeDeclared(options)
  const scope = `queue:${queue}`
  checkAddress({ tenant: typeof tenant === 'string' ? tenant : 'tenant', scope, key: 'key' })
  const check = typeof recovery === 'object' ? recovery?.check : undefined
  if (typeof check !== 'function' && recovery !== 'retry' && recovery !== 'hold') {
    throw invalidIntent(
      'recovery is none of the three policies',
      "use 'retry', 'hold' or { check: async (message, attempt) => … }",
    )
  }
  // The engine counts every attempt that lapsed only under `retry`; the guard asks the check itself (ADR 15).
  const policy: Policy<T> = {
    window: options.window ?? DEFAULTS.window,
    lease: options.lease ?? DEFAULTS.lease,
    wait: options.wait ?? DEFAULTS.wait,
    recovery: recovery === 'hold' ? 'hold' : 'retry',
    ...(options.maxAttempts === undefined ? {} : { maxAttempts: options.maxAttempts }),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
  }
  const { maxAttempts, leaseMs, timeoutMs, windowMs } = readPolicy(policy)
  return {
    queue,
    scope,
    tenantOf: typeof tenant === 'function' ? tenant : () => tenant,
    keyOf: options.key ?? keyInHeaders,
    idOf: id,
    payloadOf: options.payload ?? (() => null),
    identity: options.identity,
    handle,
    check,
    isHeld: recovery === 'hold',
    policy: { ...policy, maxAttempts },
    maxAttempts,
    leaseMs,
    timeoutMs,
    delays: {
      guardMs: toMs(options.guardDelay ?? DEFAULTS.guardDelay, 'guardDelay'),
      handlerMs: readRetryDelay(options.retryDelay),
      // What is held is not waited for; half of the window leaves the other half to a broker that is late.
      longestMs: recovery === 'hold' ? Number.POSITIVE_INFINITY : Math.ceil(windowMs / 2),
    },
    working: options.working,
    deliveries: options.deliveries ?? (() => undefined),
  }
}

/** Found out with a message in hand, each of these would make a dead letter of every one. */
function mustBeDeclared<M, T>(options: ConsumeOptions<M, T>): void {
  const { queue, tenant, identity } = options
  if (typeof queue !== 'string' || queue === '')
    throw invalidIntent(
      'consume got no queue',
      'name the work: two consumers without a name would share receipts',
    )
  if (tenant !== undefined && typeof tenant !== 'string' && typeof tenant !== 'function')
    throw invalidIntent(
      'tenant is neither a text nor a function',
      'give tenant as one of them, or leave it out',
    )
  for (const field of ['key', 'payload', 'working', 'deliveries'] as const) {
    if (options[field] === undefined || typeof options[field] === 'function') continue
    throw invalidIntent(`${field} is not a function`, `give ${field}: (message) => …, or leave it out`)
  }
  if (identity !== undefined) readIdentity(identity)
}

/** Dead messages go to a function, or where a text says that the broker knows. Else they would come again for ever. */
export function mustLayDown(deadLetter: unknown, isKnown: (text: string) => boolean, wanted: string): void {
  if (typeof deadLetter === 'function' || (typeof deadLetter === 'string' && isKnown(deadLetter))) return
  throw invalidIntent('deadLetter says of no place where dead messages go', `give deadLetter ${wanted}`)
}

function readRetryDelay(given: ConsumeOptions<unknown>['retryDelay']): (attempt: number) => number {
  if (given === undefined) return growing
  if (typeof given === 'function') return (attempt) => asked(given, attempt)
  const ms = toMs(given, 'retryDelay')
  return () => ms
}

function growing(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS)
}

/** A function that fails, or gives no length, must not leave a message without a verdict. */
function asked(given: (attempt: number) => Duration, attempt: number): number {
  try {
    return toMs(given(attempt), 'retryDelay')
  } catch {
    return growing(attempt)
  }
}

/** The choices that a caller declares for an intent, read once and turned into milliseconds. */
import { type Duration, toMs } from './duration.js'
import { invalidIntent } from './errors.js'
import type { Recovery } from './receipt.js'

/** What a status check found downstream. */
export type CheckResult<T> =
  | { found: true; value: T }
  // Written as the compiler writes the branches of `found ? { found, value } : { found: false }`: T stays what it is.
  | { found: false; value?: undefined }
  | { found: 'unclear'; value?: undefined }

/** One execution under a lease. */
export interface Attempt {
  readonly tenant: string
  readonly scope: string
  /** Hand it to the downstream as its idempotency key. */
  readonly key: string
  /** 1 for the first. */
  readonly number: number
  /** Never goes backwards for a key: a downstream can use it as a fencing token. */
  readonly epoch: number
  /** When its receipt was made; the same for all attempts under it. */
  readonly createdAt: number
  /** Certainly nobody was given this receipt before. False also where that cannot be told. */
  readonly isFirst: boolean
  /** Aborts when the lease is lost or the time is up. Made when it is read: `{ ...attempt }` does not have it. */
  readonly signal: AbortSignal
}

export type Check<T> = (attempt: Attempt) => CheckResult<T> | Promise<CheckResult<T>>

export interface Policy<T = unknown> {
  /** How long a settled receipt is honoured. Default 24 h. */
  readonly window?: Duration
  /** How long an attempt may go without a renewal before others may recover it. Default 30 s. */
  readonly lease?: Duration
  /** How long a duplicate waits for a running attempt. Default 10 s; 0 answers at once. */
  readonly wait?: Duration
  /** How long the effect may take. The lease is renewed until then, and not after. Default ten leases. */
  readonly timeout?: Duration
  /** What happens to an attempt whose outcome nobody reported. Default `hold`. */
  readonly recovery?: 'hold' | 'retry' | { readonly check: Check<T> }
  /** Executions under one receipt, the first included, before a person is asked. Default 5. */
  readonly maxAttempts?: number
}

export interface Terms<T = unknown> {
  readonly windowMs: number
  readonly leaseMs: number
  readonly waitMs: number
  readonly timeoutMs: number
  readonly maxAttempts: number
  readonly recovery: Recovery
  readonly check: Check<T> | undefined
}

/** As many as nobody counts to: such a limit is no limit. */
export const MOST_ATTEMPTS = 1_000_000
const DEFAULTS = { windowMs: 86_400_000, leaseMs: 30_000, waitMs: 10_000, maxAttempts: 5 }
const KNOWN = new Set(['window', 'lease', 'wait', 'timeout', 'recovery', 'maxAttempts'])

export function readPolicy<T>(policy?: Policy<T>): Terms<T> {
  return policy === undefined ? UNDECLARED : read(policy)
}

/** What a call declares, over what its program does. A member without a value declares nothing. */
export function over<T>(defaults: Policy | undefined, policy: Policy<T> | undefined): Policy<T> | undefined {
  if (policy === undefined) return defaults as Policy<T> | undefined
  if (defaults === undefined || !isObject(policy)) return policy
  onlyPolicy(policy)
  const merged: Record<string, unknown> = {}
  for (const field of KNOWN) {
    const value = policy[field as keyof Policy]
    merged[field] = value === undefined ? defaults[field as keyof Policy] : value
  }
  return merged
}

function isObject(policy: unknown): boolean {
  return typeof policy === 'object' && policy !== null
}

/** What it inherits is read as well. */
function onlyPolicy(policy: object): void {
  for (const field in policy) {
    if (!KNOWN.has(field)) {
      throw invalidIntent(`policy.${field} is not a policy field`, `use one of ${[...KNOWN].join(', ')}`)
    }
  }
}

function read<T>(policy: Policy<T>): Terms<T> {
  if (!isObject(policy)) {
    throw invalidIntent('policy is not an object', `pass an object with any of ${[...KNOWN].join(', ')}`)
  }
  onlyPolicy(policy)
  const leaseMs = policy.lease === undefined ? DEFAULTS.leaseMs : positive(policy.lease, 'policy.lease')
  return {
    leaseMs,
    windowMs: policy.window === undefined ? DEFAULTS.windowMs : positive(policy.window, 'policy.window'),
    waitMs: policy.wait === undefined ? DEFAULTS.waitMs : toMs(policy.wait, 'policy.wait'),
    timeoutMs: policy.timeout === undefined ? leaseMs * 10 : positive(policy.timeout, 'policy.timeout'),
    maxAttempts: readMaxAttempts(policy.maxAttempts),
    recovery: readRecovery(policy.recovery),
    check: typeof policy.recovery === 'object' ? policy.recovery.check : undefined,
  }
}

function positive(duration: Duration, field: string): number {
  const ms = toMs(duration, field)
  if (ms > 0) return ms
  throw invalidIntent(`${field} is zero`, `give ${field} a length of at least one millisecond`)
}

function readMaxAttempts(given: number | undefined): number {
  if (given === undefined) return DEFAULTS.maxAttempts
  if (Number.isInteger(given) && given >= 1 && given <= MOST_ATTEMPTS) return given
  throw invalidIntent(
    `policy.maxAttempts is ${String(given)}`,
    `give policy.maxAttempts a whole number from 1 to ${MOST_ATTEMPTS}`,
  )
}

function readRecovery<T>(given: Policy<T>['recovery'] = 'hold'): Recovery {
  if (given === 'hold' || given === 'retry') return given
  if (typeof given === 'object' && given !== null && typeof given.check === 'function') return 'check'
  throw invalidIntent(
    'policy.recovery is none of the three policies',
    "use 'hold', 'retry' or { check: async (attempt) => … }",
  )
}

const UNDECLARED: Terms<never> = read({})

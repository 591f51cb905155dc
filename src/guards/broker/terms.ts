/** What a contract's durations, class and downstream facts come to: read once, in milliseconds, defaults filled in. */
import { type Duration, toMs } from '../../core/duration.js'
import type { Policy } from '../../core/policy.js'
import type { Contract, EffectClass } from './contract.js'

export interface ToolTerms {
  readonly windowMs: number
  readonly leaseMs: number
  readonly timeoutMs: number
  readonly settlesMs: number
  readonly attempts: number
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** Running it again with the same key does no harm. */
  readonly repeatable: boolean
  /** A person decides about every second execution. */
  readonly human: boolean
  /** Does it leave a receipt? */
  readonly receipted: boolean
  /** For once(); a tool with a check and no downstream key adds the check of the call. */
  readonly policy: Policy & { readonly window: number }
}

const DAY_MS = 86_400_000
const DEFAULTS = { timeoutMs: 30_000, leaseMs: 60_000, attempts: 3, backoffMs: 250, maxBackoffMs: 10_000 }

function defaultWindowMs(effect: EffectClass, value: Contract['value']): number {
  return effect === 'irreversible' || value === 'high' ? 7 * DAY_MS : DAY_MS
}

/**
 * A process that dies leaves at least two thirds of its lease: renewals are sent each third. By then a request that
 * it had sent has to be over, or a status check that finds nothing would be believed too early.
 */
export function leaseForSettling(settlesMs: number): number {
  return Math.ceil(settlesMs * 1.5)
}

function read(given: Duration | undefined, otherwise: number, field: string): number {
  return given === undefined ? otherwise : toMs(given, field)
}

/** Throws INVALID_INTENT, naming the field, where a duration is none. */
export function readTerms(contract: Contract): ToolTerms {
  const { effect, downstream, retry, requiresHumanOnRetry: human = false } = contract
  const timeoutMs = read(contract.timeout, DEFAULTS.timeoutMs, 'timeout')
  const settlesMs = read(downstream?.settles, timeoutMs, 'downstream.settles')
  const attempts = retry?.attempts ?? (human ? 1 : DEFAULTS.attempts)
  const backoffMs = read(retry?.backoff, DEFAULTS.backoffMs, 'retry.backoff')
  const maxBackoffMs = read(retry?.maxBackoff, DEFAULTS.maxBackoffMs, 'retry.maxBackoff')
  const triesMs = attempts * timeoutMs + (attempts - 1) * maxBackoffMs
  const leaseMs = read(
    contract.lease,
    Math.max(DEFAULTS.leaseMs, triesMs, leaseForSettling(settlesMs)),
    'lease',
  )
  const windowMs = read(contract.window, defaultWindowMs(effect, contract.value), 'window')
  const acceptsKey = downstream?.acceptsKey === true
  const receipted = effect === 'write-non-idempotent' || effect === 'irreversible'
  return {
    windowMs,
    leaseMs,
    timeoutMs,
    settlesMs,
    attempts,
    backoffMs,
    maxBackoffMs,
    repeatable: !human && (!receipted || acceptsKey),
    human,
    receipted,
    policy: {
      window: windowMs,
      lease: leaseMs,
      // The broker's own limits come first; this one is for a tool or a check that hangs all the same.
      timeout: leaseMs + settlesMs + 2 * timeoutMs + 60_000,
      recovery: acceptsKey && !human ? 'retry' : 'hold',
      ...(contract.wait === undefined ? {} : { wait: contract.wait }),
    },
  }
}

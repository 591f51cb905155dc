/** How runs and steps are kept: the choices of a program, read once, with the bounds that follow from each other. */
import { type Duration, toMs } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { MOST_ATTEMPTS, type Policy, readPolicy } from '../../core/policy.js'

/**
 * What a second trigger gets. `join`: the outcome, for which it waits while the run is active. `cached`: the outcome of
 * a run that has ended; of an active one, only word that it is active. `tell`: word that there is one, and its id.
 */
export type Duplicate = 'join' | 'cached' | 'tell'

export interface RunPolicy {
  /** How long an ended run answers its trigger's duplicates. Default 24 h. */
  readonly window?: Duration
  /** How long a worker may go silent before others take its runs over. Default 30 s. */
  readonly lease?: Duration
  /** How long one worker may spend on a run, sleep not counted; after that another attempt goes on. Default 1 h. */
  readonly timeout?: Duration
  /** How long a duplicate waits for an active run. Default 1 min. */
  readonly wait?: Duration
  /** How far from its start a run may sleep. What it has done is kept for that much longer. Default 7 d. */
  readonly sleep?: Duration
  /** Workers that may fail or die at the run, the first included, before a person is asked. Default 5. */
  readonly maxAttempts?: number
  /** Default `join`. */
  readonly duplicate?: Duplicate
}

export interface RunTerms {
  readonly windowMs: number
  readonly leaseMs: number
  readonly timeoutMs: number
  readonly waitMs: number
  readonly sleepMs: number
  readonly maxAttempts: number
  readonly duplicate: Duplicate
  /** No step of a run that may still be resumed is ever forgotten. */
  readonly stepWindowMs: number
}

const DEFAULTS = { window: '24h', lease: '30s', timeout: '1h', wait: '1m', maxAttempts: 5 } as const
const LONGEST_MS = 100 * 365 * 86_400_000

/**
 * For receipts that a run holds for as long as it goes on. An attempt of the engine can neither stand still while a run
 * sleeps nor be left out of the count: both limits are the run's own, see time-limit.ts and attempts.ts.
 */
export const UNLIMITED = { timeout: LONGEST_MS, maxAttempts: MOST_ATTEMPTS } as const

/** What the later ones declare holds. A member without a value declares nothing; a misspelt one stays to be refused. */
function merged(...policies: readonly (RunPolicy | undefined)[]): RunPolicy {
  const declared = policies.flatMap((policy) => Object.entries(policy ?? {}))
  return Object.fromEntries(declared.filter(([, value]) => value !== undefined))
}

export function readTerms(...policies: readonly (RunPolicy | undefined)[]): RunTerms {
  const { duplicate = 'join', sleep = '7d', ...given }: RunPolicy = merged(...policies)
  if (duplicate !== 'join' && duplicate !== 'cached' && duplicate !== 'tell') {
    throw invalidIntent(
      `policy.duplicate is ${JSON.stringify(duplicate)}`,
      "use 'join', 'cached' or 'tell' for what a second trigger gets",
    )
  }
  const { windowMs, leaseMs, timeoutMs, waitMs, maxAttempts } = readPolicy({ ...DEFAULTS, ...given })
  const sleepMs = toMs(sleep, 'policy.sleep')
  // Each attempt may take its whole time, and an orphan waits a window at most before it is held. Whoever closes leaves
  // only runs that sleep: after the last sleep there are no more attempts than these.
  const longestMs = sleepMs + maxAttempts * (timeoutMs + leaseMs + windowMs) + windowMs
  return {
    windowMs,
    leaseMs,
    timeoutMs,
    waitMs,
    sleepMs,
    maxAttempts,
    duplicate,
    stepWindowMs: Math.min(longestMs, LONGEST_MS),
  }
}

export interface StepOptions<T = unknown> {
  /** What the step works on: another input at the same place of a resumed run is reported, not executed. */
  readonly input?: unknown
  /** A name for the place of the step, where the order of steps is not the same every time. */
  readonly place?: string
  /** What happens to a step whose worker died in the middle of it. Default `hold`. */
  readonly recovery?: Policy<T>['recovery']
  readonly lease?: Duration
  readonly timeout?: Duration
  readonly maxAttempts?: number
}

const KNOWN = [
  'input',
  'place',
  'recovery',
  'lease',
  'timeout',
  'maxAttempts',
] satisfies (keyof StepOptions)[]

export function checkStepOptions(options: object): void {
  onlyKnown(options, KNOWN, 'run.step')
}

/** The policy of a step's receipt. A resumed run waits for as long as a step of its dead worker can look alive. */
export function stepPolicy<T>(
  options: Omit<StepOptions, 'recovery'>,
  recovery: Policy<T>['recovery'],
  run: RunTerms,
): Policy<T> {
  const leaseMs = options.lease === undefined ? run.leaseMs : toMs(options.lease, 'step.lease')
  const timeoutMs = options.timeout === undefined ? leaseMs * 10 : toMs(options.timeout, 'step.timeout')
  return {
    window: run.stepWindowMs,
    lease: leaseMs,
    timeout: timeoutMs,
    wait: timeoutMs + leaseMs,
    ...(recovery === undefined ? {} : { recovery }),
    ...(options.maxAttempts === undefined ? {} : { maxAttempts: options.maxAttempts }),
  }
}

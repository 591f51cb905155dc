/**
 * Steps. Each has a place in its run: the number of its turn among the steps of the same parent, so that a resumed run
 * finds what its first attempt did there. The name and the input are the payload: others at the same place are a run
 * that went another way, which is reported and not executed. Steps of one parent may run at the same time; they get
 * their places when they are called.
 */
import { type Duration, toMs } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import type { Attempt, Policy } from '../../core/policy.js'
import { isPromised } from '../../core/promised.js'
import type { ActiveRun, StepRecord } from './active-run.js'
import { type Caller, type CallOptions, callTool, type Observed } from './call.js'
import type { Link } from './chain.js'
import { stepKey, stepWhere } from './names.js'
import { diverged, isReused, tooLong } from './refusals.js'
import { checkStepOptions, stepPolicy, type StepOptions } from './terms.js'

/** What a run can do, and so can each of its steps. */
export interface Steps {
  /** Runs `fn` once at this place of the run; a resumed run gets its recorded result. */
  step<T>(name: string, fn: (step: Step) => T | Promise<T>, options?: StepOptions<T>): Promise<T>
  /** A tool call through a broker, which knows what its arguments mean; the observation is recorded. */
  call<O extends Observed>(broker: Caller<O>, tool: string, args: unknown, options?: CallOptions): Promise<O>
  /** A pause that a resumed run does not begin anew. */
  sleep(duration: Duration): Promise<void>
  sleepUntil(instant: Date | number): Promise<void>
  /** Aborts when the run is cancelled or its lease is lost; in a step, also when the step's is. */
  readonly signal: AbortSignal
  /** The keys that led here, this one last: hand it on with whatever this starts. */
  readonly chain: readonly Link[]
}

export interface Step extends Steps {
  /** Hand it to the downstream as its idempotency key. */
  readonly key: string
  /** 1 for the first try of this step. */
  readonly number: number
  /** Never goes backwards: a downstream can use it as a fencing token. */
  readonly epoch: number
}

const LONGEST_NAME = 200

export function stepsOf(run: ActiveRun, parent: string, within?: Attempt): Steps {
  let turn = 0
  const calls = new Map<string, number>()
  const placeOf = (own: string): string => (parent === '' ? own : `${parent}.${own}`)
  const nextPlace = (): string => placeOf(String(++turn))

  /** The instant is written down by the first attempt, on the store's clock; then there is nothing left but to wait. */
  async function rest(name: string, input: number, wakeAt: () => number): Promise<void> {
    const policy = stepPolicy<StepRecord<number>>({}, 'retry', run.terms)
    const wakeMs = await recorded(run, nextPlace(), name, input, wakeAt, policy)
    if (wakeMs > run.latestWakeMs) throw tooLong(wakeMs, run.latestWakeMs)
    for (let leftMs = wakeMs - run.storeNow(); leftMs > 0; leftMs = wakeMs - run.storeNow()) {
      await run.pause(leftMs, within !== undefined)
    }
  }

  async function sleepFor(duration: Duration): Promise<void> {
    const ms = toMs(duration, 'sleep')
    await rest('sleep', ms, () => run.storeNow() + ms)
  }

  async function sleepUntil(instant: Date | number): Promise<void> {
    // Not Number(), to which null and an empty text are the year 1970.
    const ms: unknown = (instant as Date | number | null)?.valueOf()
    if (typeof ms !== 'number' || !Number.isFinite(ms)) {
      throw invalidIntent('sleepUntil got no instant', 'give it a Date, or milliseconds since 1970')
    }
    await rest('sleepUntil', ms, () => ms)
  }

  return {
    chain: within ? chainOf(run, within) : run.chain,
    get signal() {
      const { signal } = run.stopped
      return within ? AbortSignal.any([signal, within.signal]) : signal
    },
    // Not async: the place is taken, and the promise of the receipt handed on, in the moment of the call.
    step<T>(name: string, fn: (step: Step) => T | Promise<T>, options?: StepOptions<T>) {
      return run.atWork(() => {
        const place = options?.place === undefined ? nextPlace() : placeOf(`=${named(options.place)}`)
        return perform(run, place, name, fn, options)
      })
    },
    async call(broker, tool, args, options = {}) {
      const escaped = asPart(tool, 'tool')
      const ordinal = calls.get(tool) ?? 0
      calls.set(tool, ordinal + 1)
      run.mustGoOn()
      const place = placeOf(`${escaped}#${ordinal + 1}`)
      const stepId = parent === '' ? 'run' : parent
      return await run.atWork(() => callTool(run, broker, { tool, args, place, stepId, ordinal, options }))
    },
    sleep: (duration) => maybeUnheard(sleepFor(duration)),
    sleepUntil: (instant) => maybeUnheard(sleepUntil(instant)),
  }
}

/** It may be cut short while its code still does something else: that must not end the process. */
function maybeUnheard(sleep: Promise<void>): Promise<void> {
  sleep.catch(() => undefined)
  return sleep
}

function perform<T>(
  run: ActiveRun,
  place: string,
  name: string,
  fn: (step: Step) => T | Promise<T>,
  options: StepOptions<T> | undefined,
): Promise<T> {
  checkName(name)
  if (typeof fn !== 'function') {
    throw invalidIntent(`step ${JSON.stringify(name)} has no function`, 'run.step(name, async () => …)')
  }
  const effect = (attempt: Attempt): T | Promise<T> => fn(new StepAtWork(run, place, attempt))
  if (!options) return recorded(run, place, name, undefined, effect, run.stepPolicy)
  checkStepOptions(options)
  const policy = stepPolicy(options, checkOf(run, name, options.recovery), run.terms)
  return recorded(run, place, name, options.input, effect, policy)
}

function recorded<T>(
  run: ActiveRun,
  place: string,
  name: string,
  input: unknown,
  effect: (attempt: Attempt) => T | Promise<T>,
  policy: Policy<StepRecord<T>>,
): Promise<T> {
  run.mustGoOn()
  const { tenant, scope, key } = stepWhere(run, place)
  const payload = input === undefined ? { name } : { name, input }
  const record = (attempt: Attempt): StepRecord<T> | Promise<StepRecord<T>> => {
    const made = effect(attempt)
    // Not `made.then`: what that of another library gives back is anything.
    return isPromised(made) ? Promise.resolve(made).then((value) => ({ name, value })) : { name, value: made }
  }
  return run.ibid.once({ tenant, scope, key, payload }, record, policy).then(
    (done) => done.value.value,
    async (error: unknown) => {
      if (!isReused(error, { scope, key })) throw error
      const found = await run.ibid.get({ tenant, scope, key })
      throw diverged(run.runId, place, name, (found?.value as StepRecord<T> | undefined)?.name)
    },
  )
}

/**
 * What a step's function is given. Steps of its own are set up when it takes one: most never do. All of it is its own,
 * so that a copy has it as well; the getter is the same function for all of them, because one for each is slow.
 */
class StepAtWork implements Step {
  static readonly #signal = {
    enumerable: true,
    get(this: StepAtWork): AbortSignal {
      return this.#own.signal
    },
  }

  readonly key: string
  readonly number: number
  readonly epoch: number
  readonly chain: readonly Link[]
  declare readonly signal: AbortSignal
  readonly #run: ActiveRun
  readonly #place: string
  readonly #attempt: Attempt
  #made: Steps | undefined

  constructor(run: ActiveRun, place: string, attempt: Attempt) {
    this.key = stepKey(run.runId, attempt)
    this.number = attempt.number
    this.epoch = attempt.epoch
    this.chain = chainOf(run, attempt)
    this.#run = run
    this.#place = place
    this.#attempt = attempt
    Object.defineProperty(this, 'signal', StepAtWork.#signal)
  }

  get #own(): Steps {
    this.#made ??= stepsOf(this.#run, this.#place, this.#attempt)
    return this.#made
  }

  readonly step: Steps['step'] = (name, fn, options) => this.#own.step(name, fn, options)
  readonly call: Steps['call'] = (broker, tool, args, options) => this.#own.call(broker, tool, args, options)
  readonly sleep: Steps['sleep'] = (duration) => this.#own.sleep(duration)
  readonly sleepUntil: Steps['sleepUntil'] = (instant) => this.#own.sleepUntil(instant)
}

function chainOf(run: ActiveRun, { scope, key }: Attempt): readonly Link[] {
  return [...run.chain, { scope, key }]
}

/** A status check speaks of the step's value and knows it by the key for the downstream; what is kept is the record. */
function checkOf<T>(
  run: ActiveRun,
  name: string,
  recovery: StepOptions<T>['recovery'],
): Policy<StepRecord<T>>['recovery'] {
  if (typeof recovery !== 'object' || recovery === null) return recovery
  const { check } = recovery
  return {
    async check({ tenant, scope, key, number, epoch, createdAt, isFirst, signal }) {
      const seen = {
        tenant,
        scope,
        key: stepKey(run.runId, { key }),
        number,
        epoch,
        createdAt,
        isFirst,
        signal,
      }
      const answer = await check(seen)
      return answer.found === true ? { found: true, value: { name, value: answer.value } } : answer
    },
  }
}

/** Without dots, which lead to the steps of a step: `7.1` is not the first step of `7`. */
function named(place: unknown): string {
  return asPart(place, 'place').replaceAll('.', '%2E')
}

function asPart(text: unknown, field: string): string {
  if (typeof text === 'string' && text.isWellFormed()) return encodeURIComponent(text)
  throw invalidIntent(
    `${field} is no string, or has half a surrogate pair`,
    `give ${field} as a string of whole characters`,
  )
}

function checkName(name: unknown): void {
  if (typeof name === 'string' && name.length >= 1 && name.length <= LONGEST_NAME) return
  throw invalidIntent(
    'a step has no name, or a very long one',
    `name each step in 1 to ${LONGEST_NAME} characters`,
  )
}

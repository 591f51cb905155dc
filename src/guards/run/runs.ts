/** `createRuns`: once per trigger, once per tick, once per step. Puts the parts of one worker together. */
import { type Duration, toMs } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { type Member, Roster } from '../../core/roster.js'
import { UnderWay } from '../../core/under-way.js'
import type { Ibid } from '../../ibid.js'
import { createAdmission, type MaxActive } from './admission.js'
import { createAgents } from './agents.js'
import { type Cancelled, cancel, obeyCancels } from './cancel.js'
import type { AtWork, Desk } from './desk.js'
import { checkAgent } from './names.js'
import { createRecovery, resume } from './recovery.js'
import { type By, notRegistered } from './refusals.js'
import type { Body, Run } from './run.js'
import { start, type Started, type Trigger } from './start.js'
import {
  getRun,
  listRuns,
  type RunDetail,
  type RunQuery,
  type RunStatus,
  watchRun,
  type WatchOptions,
} from './status.js'
import { readTerms, type RunPolicy } from './terms.js'
import { type Tick, type Ticker, type TickOptions, startTicker } from './tick.js'
import { realTimers, type Timers } from './timers.js'
import { createWallClock } from './wall-clock.js'

interface Counted extends Member {
  readonly work: Promise<unknown>
}

export interface RunsOptions {
  readonly ibid: Ibid
  /** Runs that may be active at once, over all processes: for each agent of each tenant, or as told. */
  readonly maxActive?: MaxActive
  /** What holds where `start` and `register` declare nothing else. */
  readonly policy?: RunPolicy
  /** How often to look for runs whose worker died; false: when `recover()` is called. Default a third of a lease. */
  readonly recoverEvery?: Duration | false
  /** The tenants whose runs this worker takes up. Default: all, or the one that createIbid was given. */
  readonly tenants?: readonly string[]
  /** How often a worker looks whether its runs were cancelled elsewhere. Default 1 s. */
  readonly cancelEvery?: Duration
  /** For tests and simulations: elapsed time, and the clock on the wall. */
  readonly timers?: Timers
  readonly clock?: () => number
}

export interface Runs {
  /** One run for this trigger, over all processes. Without `body`, the registered code of the agent. */
  start<T>(trigger: Trigger, body?: Body<T>, policy?: RunPolicy): Promise<Started<T>>
  /** Code for an agent's runs: this worker takes up those whose worker died. */
  register<T>(agent: string, body: Body<T>, policy?: RunPolicy): void
  /** A run per tick of a schedule, over all workers. */
  tick<T>(options: TickOptions, fn: (run: Run, tick: Tick) => T | Promise<T>): Promise<Ticker>
  get(runId: string, where?: { readonly tenant?: string }): Promise<RunDetail | undefined>
  list(
    query: RunQuery,
  ): Promise<{ readonly runs: readonly RunStatus[]; readonly cursor?: string | undefined }>
  /** The run as it is, then every change, until it has ended. */
  watch(runId: string, options?: WatchOptions): AsyncGenerator<RunDetail, void, void>
  cancel(runId: string, who: By, where?: { readonly tenant?: string }): Promise<Cancelled>
  /** Goes on with a run that was held or given back; needs the agent's registered code. */
  resume<T>(runId: string, who: By, where?: { readonly tenant?: string }): Promise<Started<T>>
  /** One look for runs without a worker; the ids of those that it took up. */
  recover(): Promise<readonly string[]>
  /** Stops ticks and recovery, leaves runs that only wait to others, and waits for the rest. Closes no ibid. */
  close(): Promise<void>
}

const KNOWN = [
  'ibid',
  'maxActive',
  'policy',
  'recoverEvery',
  'tenants',
  'cancelEvery',
  'timers',
  'clock',
] satisfies (keyof RunsOptions)[]

export function createRuns(options: RunsOptions): Runs {
  const { ibid, timers = realTimers, clock = Date.now } = options
  if (typeof ibid?.once !== 'function') {
    throw invalidIntent('createRuns got no ibid', 'give it one: createRuns({ ibid: createIbid({ store }) })')
  }
  onlyKnown(options, KNOWN, 'createRuns')
  const ownTerms = readTerms(options.policy)
  const agents = createAgents()
  const atWork = new UnderWay<string, AtWork>()
  const running = new Roster<Counted>()
  const tickers = new Set<Ticker>()
  let closing = false
  let recovering = false
  const desk: Desk = {
    ibid,
    timers,
    terms: ownTerms,
    policy: options.policy,
    admission: createAdmission(ibid, timers, options.maxActive),
    agents,
    atWork,
    isClosing: () => closing,
    counted,
  }
  const wall = createWallClock(clock)
  const recovery = createRecovery(desk, options.tenants ?? [undefined])
  const recoverMs =
    options.recoverEvery === false ? 0 : toMs(options.recoverEvery ?? ownTerms.leaseMs / 3, 'recoverEvery')
  const cancelMs = toMs(options.cancelEvery ?? '1s', 'cancelEvery')
  const stops: (() => void)[] = []

  /** Now and then, in the background; a store that does not answer now may do so next time. */
  function keepDoing(everyMs: number, act: () => Promise<unknown>): void {
    let disarm = timers.after(everyMs, () => void turn(), 'background')
    async function turn(): Promise<void> {
      await act().catch(() => undefined)
      if (!closing) disarm = timers.after(everyMs, () => void turn(), 'background')
    }
    stops.push(() => disarm())
  }

  const look = (): Promise<readonly string[]> => counted(recovery.look())

  function keepRecovering(): void {
    if (recoverMs > 0 && !recovering && !closing) keepDoing(recoverMs, look)
    recovering = true
  }

  if (cancelMs > 0) keepDoing(cancelMs, () => obeyCancels(desk))

  async function counted<T>(work: Promise<T>): Promise<T> {
    const one = { work, at: -1 }
    running.add(one)
    try {
      return await work
    } finally {
      running.delete(one)
    }
  }

  return {
    async start<T>(trigger: Trigger, body?: Body<T>, policy?: RunPolicy) {
      if (typeof trigger !== 'object' || trigger === null) {
        throw invalidIntent('runs.start got no trigger', 'runs.start({ agent, trigger }, async (run) => …)')
      }
      const registered = agents.find(trigger.agent, trigger.tenant ?? ibid.tenant)
      const code = body ?? (registered?.body as Body<T> | undefined)
      if (code === undefined) throw notRegistered(trigger.agent)
      checkCode(code, 'runs.start(trigger, async (run) => …)')
      const own = policy === undefined ? registered?.terms : undefined
      const terms = own ?? readTerms(options.policy, registered?.policy, policy)
      return await counted(start(desk, trigger, { terms, body: code }))
    },
    register(agent, body, policy) {
      checkAgent(agent)
      checkCode(body, 'runs.register(agent, async (run) => …)')
      agents.set(agent, undefined, { body, policy, terms: readTerms(options.policy, policy) })
      keepRecovering()
    },
    async tick(given, fn) {
      checkCode(fn, 'runs.tick({ name, cron, timeZone }, async (run, tick) => …)')
      const ticker = await counted(startTicker(desk, wall, given, fn))
      tickers.add(ticker)
      if (closing) ticker.stop()
      keepRecovering()
      return ticker
    },
    get: (runId, where) => getRun(ibid, runId, where?.tenant),
    async list(query) {
      checkAgent((query as RunQuery | undefined)?.agent)
      return await listRuns(ibid, query)
    },
    watch: (runId, how = {}) => watchRun(ibid, timers, runId, how),
    cancel: (runId, who, where) => cancel(desk, runId, who, where?.tenant),
    resume: <T>(runId: string, who: By, where?: { readonly tenant?: string }) =>
      counted(resume<T>(desk, runId, who, where?.tenant)),
    recover: look,
    async close() {
      closing = true
      for (const stop of stops) stop()
      for (const ticker of tickers) ticker.stop()
      for (const run of atWork.values()) run.handOver()
      // What was under way may have begun something: a look for runs, the runs that it took up.
      while (running.size > 0) await Promise.allSettled(running.all().map(({ work }) => work))
    },
  }
}

/** Found out when a worker takes a run up, this would use up its attempts. */
function checkCode(code: unknown, how: string): void {
  if (typeof code !== 'function') throw invalidIntent('the code of a run is not a function', how)
}

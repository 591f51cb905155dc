/**
 * Ticks: runs that a schedule triggers. The key is the instant by the schedule, not the moment in which a worker wakes
 * up, so that workers with different clocks mean the same tick. A worker that is ahead of the store's clock finds out
 * when it wins, waits or gives the tick back, and sets its own idea of the time right: no tick runs before its time.
 * One that stood still gives back what others may have run and forgotten since: no tick runs twice.
 */
import { type Duration, toMs } from '../../core/duration.js'
import { IbidError, invalidIntent, NotExecuted } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { deriveKey } from '../../key/index.js'
import type { Desk } from './desk.js'
import { checkAgent } from './names.js'
import type { Body, Run } from './run.js'
import { createSchedule, type Schedule } from './schedule.js'
import { isTooEarly, isTooLate, start } from './start.js'
import { readTerms, type RunPolicy, type RunTerms } from './terms.js'
import type { WallClock } from './wall-clock.js'

/** What happens to ticks that no worker was awake for: nothing, the last of them runs, or all of them do. */
export type CatchUp = 'none' | 'last' | 'all'

export interface TickOptions {
  readonly name: string
  /** Five or six fields, as croner reads them. */
  readonly cron: string
  /** An IANA time zone. */
  readonly timeZone: string
  readonly tenant?: string | undefined
  /** Default `last`. */
  readonly catchUp?: CatchUp
  /** How late a tick may be and still not count as missed. Default 1 min. */
  readonly grace?: Duration
  /**
   * How long a tick is remembered, and, an hour less (half of it, where it is shorter than two), how far back ticks are
   * caught up. Default 25 h.
   */
  readonly keep?: Duration
  /** How often the clock on the wall is looked at while nothing is due: it may have been set. Default 1 min. */
  readonly checkEvery?: Duration
  readonly policy?: RunPolicy
}

export interface Tick {
  readonly name: string
  /** The instant by the schedule. */
  readonly at: Date
}

export interface Ticker {
  readonly name: string
  /** When this worker will next wake up for it. */
  next(): Date | undefined
  stop(): void
}

interface Limits {
  readonly nowMs: number
  readonly earliestMs: number
  readonly catchUp: CatchUp
  readonly graceMs: number
}

const KNOWN = [
  'name',
  'cron',
  'timeZone',
  'tenant',
  'catchUp',
  'grace',
  'keep',
  'checkEvery',
  'policy',
] satisfies (keyof TickOptions)[]
const HOUR_MS = 3_600_000
const MOST_AT_ONCE = 10_000

export async function startTicker<T>(
  desk: Desk,
  clock: WallClock,
  options: TickOptions,
  fn: (run: Run, tick: Tick) => T | Promise<T>,
): Promise<Ticker> {
  onlyKnown(options, KNOWN, 'runs.tick')
  const { name, tenant, catchUp = 'last' } = options
  const agent = `cron.${name}`
  checkAgent(agent)
  if (catchUp !== 'none' && catchUp !== 'last' && catchUp !== 'all') {
    throw invalidIntent(`catchUp is ${JSON.stringify(catchUp)}`, "use 'none', 'last' or 'all'")
  }
  const keepMs = toMs(options.keep ?? '25h', 'keep')
  const graceMs = toMs(options.grace ?? '1m', 'grace')
  const checkMs = toMs(options.checkEvery ?? '1m', 'checkEvery')
  const schedule = await createSchedule(options.cron, options.timeZone)
  const terms: RunTerms = {
    ...readTerms(desk.policy, options.policy, { window: keepMs }),
    duplicate: 'cached',
  }
  const body: Body<T> = (run) => fn(run, { name, at: new Date(run.key) })
  const sinceMs = await firstSeen(desk, clock, options)
  // Never for all tenants: what is taken up for another one must not run the code that was meant for this one.
  desk.agents.set(agent, tenant ?? desk.ibid.tenant, { body, terms })

  // Never as far back as ticks are remembered, and never forward: a short `keep` must not skip what is still to come.
  const backMs = keepMs - Math.min(HOUR_MS, keepMs / 2)
  const earliest = (): number => Math.max(sinceMs, clock.now() - (catchUp === 'none' ? graceMs : backMs))
  let doneMs = earliest()
  let disarm: (() => void) | undefined
  let stopped = false

  function fire(atMs: number): void {
    if (!stopped && !desk.isClosing()) void desk.counted(begin(atMs))
  }

  async function begin(atMs: number): Promise<void> {
    const at = new Date(atMs).toISOString()
    const given = { tenant, agent, key: at, trigger: { name, at } }
    try {
      const notAfterMs = atMs + backMs
      await start(desk, given, { terms, body, notBeforeMs: atMs, onStoreTime: clock.asking(), notAfterMs })
    } catch (error) {
      if (isTooEarly(error)) {
        // By now the clock has been set right: what is due by it was not seen behind what seemed to be.
        doneMs = Math.min(doneMs, earliest())
        rearm()
        return
      }
      const waitMs = againIn(error)
      if (waitMs === undefined || clock.now() - atMs >= backMs) return
      desk.timers.after(waitMs, () => fire(atMs), 'background')
    }
  }

  /**
   * A run that failed has had its tick; what could not even start, or says that nothing ran, is tried again. One that
   * is active elsewhere is looked at again: its worker may give it back, and close before it has tried once more.
   */
  function againIn(error: unknown): number | undefined {
    if (!(error instanceof IbidError)) return undefined
    if (error.code === 'RETRY_IN_FLIGHT') return terms.leaseMs
    const isFree = error.code === 'STORE_UNAVAILABLE' || (error instanceof NotExecuted && !isTooLate(error))
    return isFree ? (error.retryAfterMs ?? 1_000) : undefined
  }

  function turn(): void {
    if (stopped) return
    const nowMs = clock.now()
    const dueMs = due(schedule, doneMs, nowMs)
    for (const atMs of chosen(dueMs, { nowMs, earliestMs: earliest(), catchUp, graceMs })) fire(atMs)
    doneMs = Math.max(doneMs, nowMs)
    rearm()
  }

  function rearm(): void {
    disarm?.()
    if (stopped) return
    const nowMs = clock.now()
    const nextMs = schedule.next(doneMs)
    const waitMs = nextMs === undefined ? checkMs : Math.min(nextMs - nowMs, checkMs)
    disarm = desk.timers.after(Math.max(waitMs, 1), turn, 'background')
  }

  turn()
  return {
    name,
    next() {
      const nextMs = schedule.next(doneMs)
      return stopped || nextMs === undefined ? undefined : new Date(nextMs)
    },
    stop() {
      stopped = true
      disarm?.()
    },
  }
}

/** The instants after `doneMs` that are due by `nowMs`, the latest of them. */
function due(schedule: Schedule, doneMs: number, nowMs: number): readonly number[] {
  const found: number[] = []
  for (let atMs = schedule.next(doneMs); atMs !== undefined && atMs <= nowMs; atMs = schedule.next(atMs)) {
    found.push(atMs)
    if (found.length > MOST_AT_ONCE) found.shift()
  }
  return found
}

/**
 * Those that still matter. The last one does, however late it seems to be: the store knows better, and a clock that was
 * set ahead is not set right before something is asked of it.
 */
function chosen(
  dueMs: readonly number[],
  { nowMs, earliestMs, catchUp, graceMs }: Limits,
): readonly number[] {
  const last = dueMs.length - 1
  if (catchUp === 'all') return dueMs.filter((atMs, i) => i === last || atMs > earliestMs)
  return dueMs.filter((atMs, i) => (catchUp === 'last' && i === last) || nowMs - atMs <= graceMs)
}

/** When this very schedule was first set up: nothing before that was ever missed. */
async function firstSeen(
  desk: Desk,
  clock: WallClock,
  { name, tenant, cron, timeZone }: TickOptions,
): Promise<number> {
  const learn = clock.asking()
  const key = `${name}:${deriveKey({ tenant: tenant ?? 'default', layer: 'cron' }, { cron, timeZone })}`
  const first = await desk.ibid.once(
    { tenant, scope: 'cron', key },
    (attempt) => {
      learn(attempt.epoch / 1_000)
      return attempt.epoch / 1_000
    },
    { window: '3650d', recovery: 'retry' },
  )
  return first.value
}

/**
 * Runs one scenario: real engines in virtual time, every event at its instant, the promises checked at each of them.
 * When nothing is left to happen, the faults are over, and a last process brings every key to its end.
 */
import type { Store } from '../../store.js'
import { type MemoryTx, memoryStore } from '../../stores/memory/index.js'
import type { Clock } from '../../stores/memory/index.js'
import type { Distance } from '../planted-stores.js'
import { turn, virtualTime } from '../virtual-time.js'
import { createBooks, type Violation } from './books.js'
import { call, codeOf, effectsOf, WHERE } from './calls.js'
import { type Counts, type Running, type SimulatedProcess, startProcess, type World } from './process.js'
import type { CallStep, KeyPlan, ProcessPlan, Scenario, Step } from './scenario.js'
import { createTrace } from './trace.js'

/** A fault that is put into the store, to see that it is found. */
export type SimulatedPlant = (store: Store<MemoryTx>, distance: Distance) => Store<MemoryTx>

export interface RunOptions {
  readonly plant?: SimulatedPlant | undefined
  /** Keep every line of what happens, or only a digest of them. Default: neither. */
  readonly trace?: 'lines' | 'digest'
}

export interface Ran {
  /** The first promise that was broken. */
  readonly violation: Violation | undefined
  readonly counts: Counts
  /** Two runs have the same one only if every line of their traces is the same. Undefined without a trace. */
  readonly digest: string | undefined
  readonly trace: readonly string[]
}

/** More events than any scenario needs: something spins. */
const MOST_EVENTS = 50_000
const CLOSER: ProcessPlan = { name: 'closer', rate: 1, skewMs: 0, latencyMs: 0, caches: false }

export async function runScenario(scenario: Scenario, options: RunOptions = {}): Promise<Ran> {
  const time = virtualTime(0)
  const trace = options.trace && createTrace(time.elapsedMs, options.trace === 'lines')
  const books = createBooks(scenario.keys, ({ promise, text }) => trace?.add(`BROKEN: ${promise}: ${text}`))
  let clockMs = 0
  const clock: Clock = { now: () => time.clock.now() + clockMs }
  const counts = noCounts()
  const world: World = {
    scenario,
    time,
    store: memoryStore({ clock }),
    storeNow: clock.now,
    plant: options.plant,
    books,
    trace,
    counts,
  }
  const keys = new Map(scenario.keys.map((key) => [key.name, key]))
  const processes = new Map<string, SimulatedProcess>()
  /** Callers that wait for an answer, with the process they live in. */
  const open = new Map<object, Running>()

  function callFrom(running: Running, step: CallStep): void {
    const caller = {}
    open.set(caller, running)
    call(world, running, keys.get(step.key) as KeyPlan, step).then(
      () => open.delete(caller),
      (error: unknown) => books.broken('the simulation itself does not fail', String(error)),
    )
  }

  function resolve(running: Running, { key, as }: Extract<Step, { kind: 'resolve' }>): void {
    const ended = as === 'released' ? books.pardon(key) : (): void => undefined
    const resolution = as === 'released' ? { as } : { as, value: `${key}/said ${time.elapsedMs()}` }
    trace?.add(`a person at ${running.name} says that ${key} ${as}`)
    running.ibid.resolve({ ...WHERE, key }, resolution, { by: 'a person', why: 'looked' }).then(
      () => ended(),
      (error: unknown) => {
        // What was asked for may still happen: a write whose answer was lost.
        trace?.add(`the person at ${running.name} is told ${codeOf(error)}`)
        if (codeOf(error) === 'NOT_HELD') ended()
      },
    )
  }

  function sweep({ ibid, name }: Running): void {
    trace?.add(`${name} sweeps`)
    ibid.sweep().catch((error: unknown) => trace?.add(`${name}'s sweep is told ${codeOf(error)}`))
  }

  /** Until nothing is left to happen, or a promise is broken. */
  async function settleDown(): Promise<void> {
    for (let events = 0; books.violations.length === 0; events++) {
      if (events > MOST_EVENTS) return books.broken('everything ends', `${MOST_EVENTS} events, and no end`)
      if (!(await time.next())) return
      // A batch of the engine that waits for another turn of the loop leaves within this instant.
      while (process.getActiveResourcesInfo().includes('Immediate')) await turn()
    }
  }

  async function close(): Promise<void> {
    const waiting = [...open.values()].filter(({ isAlive }) => isAlive())
    if (waiting.length > 0)
      books.broken('every caller gets an answer', `${waiting.length} callers wait for ever`)
    // Leases last longer where the store's clock was set back.
    const backMs = scenario.steps.map((step) => (step.kind === 'clock' ? Math.max(0, -step.ms) : 0))
    const longestMs = Math.max(...scenario.keys.map(({ leaseMs }) => leaseMs)) + Math.max(0, ...backMs)
    const closer = startProcess({ ...world, plant: undefined }, CLOSER, 99)
    for (const payload of [0, 1]) {
      if (books.violations.length > 0) return
      time.clock.advance(longestMs + 1)
      closer.ask(sweep)
      await settleDown()
      for (const { name } of scenario.keys)
        closer.ask((running) => callFrom(running, lastCall(name, payload)))
      await settleDown()
    }
    if (books.violations.length > 0) return
    await judgeEnd(world)
  }

  for (const plan of scenario.processes) {
    const number = scenario.processes.indexOf(plan)
    if (scenario.steps.some((step) => isAsked(step) && step.process === plan.name))
      processes.set(plan.name, startProcess(world, plan, number))
  }
  for (const step of scenario.steps) {
    if (step.kind === 'clock') {
      time.timers.after(step.atMs, () => {
        clockMs += step.ms
        counts.clock++
        books.clockMoved()
        trace?.add(`the store's clock is set by ${step.ms} ms`)
      })
    } else if (isAsked(step)) {
      const process = processes.get(step.process) as SimulatedProcess
      time.timers.after(step.atMs, () => {
        if (step.kind === 'outage') process.outage(step.ms)
        else if (step.kind === 'call') process.ask((running) => callFrom(running, step))
        else if (step.kind === 'resolve') process.ask((running) => resolve(running, step))
        else process.ask(sweep)
      })
    }
  }
  await settleDown()
  if (books.violations.length === 0) await close()
  const [violation] = books.violations
  return { violation, counts, digest: trace?.digest(), trace: trace?.lines ?? [] }
}

/** Every key is settled or held, what is in the store's own table agrees, and nothing is left for ever. */
async function judgeEnd({ books, store, scenario, time }: World): Promise<void> {
  const { receipts } = await store.get(scenario.keys.map(({ name }) => ({ ...WHERE, key: name })))
  for (const [at, { name, policy }] of scenario.keys.entries()) {
    const state = receipts[at]?.state
    if (state !== 'succeeded' && state !== 'failed' && state !== 'unknown')
      books.broken('every key ends settled or held', `${name} ended ${state ?? 'without a receipt'}`)
    if (policy !== 'transact') continue
    const values = await store.transact?.(async (tx) => (tx.get(effectsOf(name)) ?? []) as string[])
    books.committed(name, values ?? [])
  }
  time.clock.advance(10 * Math.max(...scenario.keys.map(({ windowMs }) => windowMs)))
  await store.purge(1_000, 0)
  const left = (await store.scan({ limit: 100 })).receipts.map(({ key, state }) => `${key} ${state}`)
  const held = receipts.flatMap((one) => (one?.state === 'unknown' ? [`${one.key} unknown`] : []))
  if (left.toSorted().join() !== held.toSorted().join())
    books.broken('only what is held is kept for ever', `left: ${left.join()}; held: ${held.join()}`)
}

type Asked = Extract<Step, { kind: 'call' | 'resolve' | 'sweep' | 'outage' }>

/** What comes to a process from outside, at its time. */
function isAsked(step: Step): step is Asked {
  return step.kind === 'call' || step.kind === 'resolve' || step.kind === 'sweep' || step.kind === 'outage'
}

function lastCall(key: string, payload: number): CallStep {
  return {
    kind: 'call',
    process: CLOSER.name,
    atMs: 0,
    remote: false,
    key,
    payload,
    end: 'value',
    effectMs: 0,
    waitMs: 0,
    retries: 9,
    heeds: false,
  }
}

export function noCounts(): Counts {
  return {
    operations: 0,
    refused: 0,
    lost: 0,
    half: 0,
    delayed: 0,
    late: 0,
    crash: 0,
    pause: 0,
    outage: 0,
    clock: 0,
  }
}

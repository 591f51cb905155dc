/**
 * A simulated process: the real engine on timers of its own, in front of the shared store. Whatever goes to the
 * store travels, and whatever comes back waits in the process's own timers: when it crashes, nothing in it goes on;
 * while it is paused, nothing in it happens, and the leases it holds may end.
 */
import { createIbid, type Ibid } from '../../index.js'
import type { Store } from '../../store.js'
import type { MemoryTx } from '../../stores/memory/index.js'
import { around, type Surrounded, type Verb } from '../around.js'
import { faultyStore, type FaultyStore } from '../faulty-store.js'
import type { Distance } from '../planted-stores.js'
import type { Timers, VirtualTime } from '../virtual-time.js'
import { watched } from '../watched-store.js'
import type { Books } from './books.js'
import { draw } from './draw.js'
import type { ProcessPlan, Scenario, Step } from './scenario.js'
import type { Trace } from './trace.js'

export interface Counts {
  operations: number
  refused: number
  lost: number
  half: number
  delayed: number
  late: number
  crash: number
  pause: number
  outage: number
  clock: number
}

export interface World {
  readonly scenario: Scenario
  readonly time: VirtualTime
  readonly store: Store<MemoryTx>
  readonly storeNow: () => number
  readonly plant: ((store: Store<MemoryTx>, distance: Distance) => Store<MemoryTx>) | undefined
  readonly books: Books
  readonly trace: Trace
  readonly counts: Counts
}

/** One life of a process, from its start to a crash. */
export interface Running {
  readonly name: string
  readonly ibid: Ibid<MemoryTx>
  readonly timers: Timers
  readonly isAlive: () => boolean
  newToken(): string
}

export interface SimulatedProcess {
  /** Does it as soon as the process is there for it. */
  ask(what: (running: Running) => void): void
  outage(ms: number): void
}

type Planned = Extract<Step, { kind: 'crash' | 'pause' }>

export function startProcess(world: World, plan: ProcessPlan, number: number): SimulatedProcess {
  const { scenario, time, books, trace, counts } = world
  const { name, rate, skewMs, latencyMs } = plan
  const mine = scenario.steps.filter((step) => 'process' in step && step.process === name)
  const planned = new Map<number, Planned>()
  const faults = new Map<string, Extract<Step, { kind: 'fault' }>>()
  for (const step of mine) {
    if (step.kind === 'crash' || step.kind === 'pause') planned.set(step.event, step)
    if (step.kind === 'fault') faults.set(`${step.verb} ${step.call}`, step)
  }
  const waiting: ((running: Running) => void)[] = []
  const calls = new Map<Verb, number>()
  let events = 0
  let messages = 0
  let tokens = 0
  let running: Running | undefined
  let faulty: FaultyStore<MemoryTx> | undefined
  let lives = 0

  /** Mostly about as long as usual, now and then much longer. */
  function travelMs(): number {
    if (latencyMs === 0) return 1
    const kind = draw(scenario.seed, number, ++messages)
    const share = draw(scenario.seed, number + 100, messages)
    return latencyMs * share * (kind < 0.7 ? 1 : kind < 0.95 ? 5 : 50)
  }

  const distance: Distance = {
    gap: () => new Promise((resolve) => void time.timers.after(travelMs(), resolve)),
    localNow: () => world.storeNow() + skewMs,
  }

  function start(): void {
    const worker = time.worker({ rate })
    const life = ++lives
    let isAlive = true
    let losesRequests = false

    /** Every event that reaches the process comes through here; at some it crashes, at some it stands still. */
    function reach(fn: () => void): void {
      const due = planned.get(++events)
      if (due?.kind === 'crash') {
        isAlive = false
        ;({ losesRequests } = due)
        worker.stop()
        running = undefined
        counts.crash++
        trace.add(`${name} crashes${losesRequests ? ', and what it had sent is lost' : ''}`)
        time.timers.after(due.restartMs, start)
      } else if (due?.kind === 'pause') {
        counts.pause++
        trace.add(`${name} stands still for ${due.ms} ms`)
        worker.pause()
        time.timers.after(due.ms, () => {
          trace.add(`${name} goes on`)
          worker.resume()
          fn()
        })
      } else fn()
    }

    const timers: Timers = {
      elapsedMs: worker.timers.elapsedMs,
      after: (ms, fn) => worker.timers.after(ms, () => reach(fn)),
    }

    /** On its way to the store; lost with the process where the crash says so. */
    const request = (): Promise<void> =>
      new Promise((resolve) => {
        time.timers.after(travelMs(), () => {
          if (isAlive || !losesRequests) resolve()
        })
      })
    const answer = (): Promise<void> =>
      new Promise((resolve) => {
        timers.after(travelMs(), resolve)
      })

    async function travel<T>({ verb, about, run }: Surrounded<T>): Promise<T> {
      const what = `${verb}${about ? ` ${about.map(label).join(', ')}` : ''}`
      await request()
      const came = await run().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      trace.add(`store: ${name}'s ${what}: ${'value' in came ? said(came.value) : String(came.error)}`)
      await answer()
      trace.add(`${name} hears of its ${what}`)
      if ('value' in came) return came.value
      throw came.error
    }

    const seen = watched(
      world.store,
      { push: (...all) => void all.forEach(books.breached) },
      (token) => token.startsWith(`${name}.`),
      books.onChange,
    )
    const planted = world.plant ? world.plant(seen, distance) : seen
    const begin = planted.transact?.bind(planted)
    const apart: Store<MemoryTx> = {
      ...planted,
      ...(begin
        ? {
            transact: (work) =>
              begin(async (tx, swap) => {
                const result = await work(tx, async (change) => {
                  await request()
                  const swapped = await swap(change)
                  await answer()
                  return swapped
                })
                await request()
                return result
              }),
          }
        : {}),
    }
    faulty = faultyStore(around(apart, travel), {
      pause: (ms) => new Promise<void>((resolve) => void timers.after(ms, resolve)),
      faults(verb) {
        const call = (calls.get(verb) ?? 0) + 1
        calls.set(verb, call)
        counts.operations++
        const fault = faults.get(`${verb} ${call}`)
        if (!fault) return undefined
        counts[fault.fault]++
        trace.add(`${name}'s ${verb} number ${call} will be ${fault.fault}`)
        return { kind: fault.fault, ms: fault.ms }
      },
    })
    const newToken = (): string => `${name}.${++tokens}`
    const ibid = createIbid<MemoryTx>({
      store: faulty,
      timers,
      newToken,
      housekeeping: false,
      ...(plan.caches ? {} : { cache: false as const }),
    })
    running = { name, ibid, timers, isAlive: () => isAlive, newToken }
    if (life > 1) trace.add(`${name} starts again`)
    for (const what of waiting.splice(0)) ask(what)
  }

  function ask(what: (running: Running) => void): void {
    const there = running
    if (there) there.timers.after(0, () => what(there))
    else waiting.push(what)
  }

  start()
  return {
    ask,
    outage(ms) {
      const store = faulty
      counts.outage++
      trace.add(`${name} cannot reach the store for ${ms} ms`)
      store?.startOutage()
      time.timers.after(ms, () => store?.endOutage())
    },
  }
}

function label({ key, state }: { readonly key: string; readonly state?: string }): string {
  return state === undefined ? key : `${key} → ${state}`
}

/** An answer of the store, short. */
function said(answer: unknown): string {
  if (!Array.isArray(answer)) return 'done'
  return answer
    .map((one: { won?: boolean; done?: boolean; found?: { state: string; attempt: number } }) => {
      if (one.found) return `it is ${one.found.state}, attempt ${one.found.attempt}`
      return one.won || one.done ? 'yes' : 'no'
    })
    .join(', ')
}

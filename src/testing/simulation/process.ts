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
import { draw, numberOf } from './draw.js'
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
  /** Undefined where nobody wants to know: it costs more than what it tells of. */
  readonly trace: Trace | undefined
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
  const planned: Planned[] = []
  const faults = new Map<string, Extract<Step, { kind: 'fault' }>>()
  for (const step of scenario.steps) {
    if (!('process' in step) || step.process !== name) continue
    if (step.kind === 'crash' || step.kind === 'pause') planned.push(step)
    if (step.kind === 'fault') faults.set(`${named(step.verb, step.key)} ${step.call}`, step)
  }
  planned.sort((a, b) => a.atMs - b.atMs)
  const waiting: ((running: Running) => void)[] = []
  const asked = new Map<string, number>()
  const sent = new Map<string, number>()
  let skipped = 0
  let tokens = 0
  let running: Running | undefined
  let faulty: FaultyStore<MemoryTx> | undefined
  let lives = 0

  /** Mostly about as long as usual, now and then much longer. */
  function travelMs(what: string): number {
    if (latencyMs === 0) return 1
    const message = (sent.get(what) ?? 0) + 1
    sent.set(what, message)
    const about = numberOf(what)
    const kind = draw(scenario.seed + number, about, message)
    const share = draw(scenario.seed - number, about, message)
    return latencyMs * share * (kind < 0.7 ? 1 : kind < 0.95 ? 5 : 50)
  }

  /** What comes over the process with this event, if anything does. */
  function due(): Planned | undefined {
    const [next] = planned
    if (!next || time.elapsedMs() < next.atMs || skipped++ < next.skip) return undefined
    skipped = 0
    return planned.shift()
  }

  const distance: Distance = {
    gap: () => new Promise((resolve) => void time.timers.after(travelMs('gap'), resolve)),
    localNow: () => world.storeNow() + skewMs,
  }

  function start(): void {
    const worker = time.worker({ rate })
    const life = ++lives
    let isAlive = true
    let losesRequests = false

    /** Every event that reaches the process comes through here; at some it crashes, at some it stands still. */
    function reach(fn: () => void): void {
      const over = due()
      if (over?.kind === 'crash') {
        isAlive = false
        ;({ losesRequests } = over)
        worker.stop()
        running = undefined
        counts.crash++
        trace?.add(`${name} crashes${losesRequests ? ', and what it had sent is lost' : ''}`)
        time.timers.after(over.restartMs, start)
      } else if (over) {
        counts.pause++
        trace?.add(`${name} stands still for ${over.ms} ms`)
        worker.pause()
        time.timers.after(over.ms, () => {
          trace?.add(`${name} goes on`)
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
    const request = (what: string): Promise<void> =>
      new Promise((resolve) => {
        time.timers.after(travelMs(what), () => {
          if (isAlive || !losesRequests) resolve()
        })
      })
    const answer = (what: string): Promise<void> =>
      new Promise((resolve) => {
        timers.after(travelMs(what), resolve)
      })

    async function travel<T>({ verb, about, run }: Surrounded<T>): Promise<T> {
      const what = named(verb, about?.[0]?.key)
      await request(what)
      const came = await run().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      trace?.add(`store: ${name}'s ${told(verb, about)}: ${said(came)}`)
      await answer(what)
      trace?.add(`${name} hears of its ${told(verb, about)}`)
      if ('value' in came) return came.value
      throw came.error
    }

    const seen = watched(
      world.store,
      { push: (...all) => all.forEach(books.breached) },
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
                // The store has begun, and nobody is there any more to do the work.
                if (!isAlive) await new Promise(() => {})
                const result = await work(tx, async (change) => {
                  await request('swap in transact')
                  const swapped = await swap(change)
                  await answer('swap in transact')
                  return swapped
                })
                await request('commit')
                return result
              }),
          }
        : {}),
    }
    faulty = faultyStore(around(apart, travel), {
      pause: (ms) => new Promise<void>((resolve) => void timers.after(ms, resolve)),
      faults({ verb, about }) {
        const what = named(verb, about?.[0]?.key)
        const call = (asked.get(what) ?? 0) + 1
        asked.set(what, call)
        counts.operations++
        const fault = faults.get(`${what} ${call}`)
        if (!fault) return undefined
        counts[fault.fault]++
        trace?.add(`${name}'s ${what} number ${call} will be ${fault.fault}`)
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
    if (life > 1) trace?.add(`${name} starts again`)
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
      trace?.add(`${name} cannot reach the store for ${ms} ms`)
      store?.startOutage()
      time.timers.after(ms, () => store?.endOutage())
    },
  }
}

/** A call by its verb and the first key that it is about. */
function named(verb: Verb, key: string | undefined): string {
  return key === undefined ? verb : `${verb} of ${key}`
}

function told(verb: Verb, about: Surrounded<unknown>['about'] = []): string {
  const labels = about.map(({ key, state }) => (state === undefined ? key : `${key} → ${state}`))
  return `${verb} ${labels.join(', ')}`.trim()
}

interface Answered {
  readonly won?: boolean
  readonly done?: boolean
  readonly found?: { readonly state: string; readonly attempt: number }
}

/** An answer of the store, short. */
function said(came: { readonly value: unknown } | { readonly error: unknown }): string {
  if ('error' in came) return String(came.error)
  if (!Array.isArray(came.value)) return 'done'
  return (came.value as Answered[])
    .map(({ won, done, found }) => {
      if (found) return `it is ${found.state}, attempt ${found.attempt}`
      return won || done ? 'yes' : 'no'
    })
    .join(', ')
}

/**
 * Two real engines on one memory store, each with one call for the same key, and a schedule that decides at every
 * point who goes on, who crashes, whose answer is lost and when time passes beyond the lease. Then a third caller
 * comes, and what is left is judged.
 *
 * Points: before a store call, after it was carried out and before its answer arrives, and between the start of an
 * effect (or a check) and its landing. From an answer to its next point a worker touches nothing that the other one
 * sees, so once no more time can pass in between, nobody is put there: that would be the same run twice.
 */
import type { Attempt, CheckResult, Policy } from '../../src/core/policy.js'
import type { Receipt } from '../../src/core/receipt.js'
import { createIbid, type Ibid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type Seen, seen, turn, WHERE } from '../engine/bench.js'
import { virtualTime } from '../../src/testing/virtual-time.js'
import type { Choose } from './explorer.js'
import { createGates, type Parked } from './gates.js'
import { watched } from '../../src/testing/watched-store.js'

export type PolicyName = 'hold' | 'retry' | 'check'
type Plant = (store: Store) => Store

export interface Setting {
  readonly policy: PolicyName
  /** How often, at most, in one run. */
  readonly timePasses: number
  readonly crashes: number
  readonly lostAnswers: number
  /** A downstream that refuses an epoch older than one it has seen. */
  readonly fences?: boolean
  /** Put the other worker also between an answer and its arrival: the same ends, from many more runs. */
  readonly everyPoint?: boolean
  /** How long a duplicate waits; by default until there is an answer. */
  readonly wait?: 0
  /** A fault to find. */
  readonly plant?: Plant
}

export interface Landing {
  readonly value: string
  readonly epoch: number
  readonly attempt: number
  /** The receipt had a new owner when this landed. */
  readonly overtaken: boolean
}

export interface Result {
  readonly landings: readonly Landing[]
  readonly calls: readonly Seen<{ value: unknown; replayed: boolean }>['state'][]
  readonly values: readonly unknown[]
  readonly errors: readonly (string | undefined)[]
  readonly receipt: Receipt | undefined
  readonly breaches: readonly string[]
  readonly trace: readonly string[]
}

const LEASE_MS = 100
const MOST_STEPS = 400

export async function runTwoWorkers(setting: Setting, choose: Choose): Promise<Result> {
  const time = virtualTime()
  const inner = memoryStore({ clock: time.clock })
  const planted = setting.plant ? setting.plant(inner) : inner
  const gates = createGates()
  const breaches: string[] = []
  const trace: string[] = []
  const landings: Landing[] = []
  let fence = 0

  async function current(): Promise<Receipt | undefined> {
    return (await inner.get([WHERE])).receipts[0]
  }

  function fenced(epoch: number): void {
    if (!setting.fences) return
    if (epoch < fence) throw new TypeError('the downstream has seen a later epoch')
    fence = epoch
  }

  async function land(worker: number, attempt: Attempt): Promise<string> {
    if ((await current())?.epoch !== attempt.epoch) breaches.push('an effect started without its lease')
    await gates.pass(worker, 'effect')
    fenced(attempt.epoch)
    const value = `value ${landings.length}`
    const overtaken = (await current())?.epoch !== attempt.epoch
    landings.push({ value, epoch: attempt.epoch, attempt: attempt.number, overtaken })
    return value
  }

  async function check(worker: number, attempt: Attempt): Promise<CheckResult<string>> {
    await gates.pass(worker, 'check')
    fenced(attempt.epoch)
    const first = landings[0]
    return first ? { found: true, value: first.value } : { found: false }
  }

  function policyOf(worker: number): Policy<string> {
    const { policy } = setting
    const recovery = policy === 'check' ? { check: (attempt: Attempt) => check(worker, attempt) } : policy
    return { lease: LEASE_MS, wait: setting.wait ?? '1h', timeout: '1h', maxAttempts: 9, recovery }
  }

  function engine(worker: number): { ibid: Ibid; stop: () => void } {
    let tokens = 0
    const { timers, stop } = time.worker()
    const seeing = watched(planted, breaches, (token) => token.startsWith(`${worker}.`))
    const through = <T>(label: string, call: () => Promise<T>, after?: 'after'): Promise<T> =>
      gates
        .pass(worker, label)
        .then(call)
        .then(async (answer) => {
          if (after) await gates.pass(worker, label, after)
          return answer
        })
    const store: Store = {
      ...seeing,
      claim: (wanted) => through('claim', () => seeing.claim(wanted), 'after'),
      swap: (changes) => through('swap', () => seeing.swap(changes), 'after'),
      get: (addresses) => through('get', () => seeing.get(addresses)),
    }
    const newToken = (): string => `${worker}.${++tokens}`
    const ibid = createIbid({ store, timers, newToken, housekeeping: false, cache: false })
    return { ibid, stop }
  }

  const workers = [0, 1].map(engine)
  const calls = workers.map(({ ibid }, worker) =>
    seen(ibid.once(WHERE, (attempt) => land(worker, attempt), policyOf(worker))),
  )
  const left = { time: setting.timePasses, crashes: setting.crashes, lost: setting.lostAnswers }

  function movableNow(): readonly Parked[] {
    // The workers are alike: which of them is first makes no difference.
    if (trace.length === 0) return gates.parked.slice(0, 1)
    const isTimeless = left.time === 0 && !setting.everyPoint
    const arriving = isTimeless ? gates.parked.find(({ after }) => after) : undefined
    return arriving ? [arriving] : gates.parked
  }

  function options(): { readonly name: string; readonly take: () => unknown }[] {
    const movable = movableNow()
    const all: { name: string; take: () => unknown }[] = []
    for (const one of movable) {
      const name = `${one.worker}:${one.label}${one.after ? '<' : '>'}`
      all.push({ name, take: () => one.go('on') })
      if (one.after && left.lost > 0)
        all.push({ name: `${name} lost`, take: () => (left.lost--, one.go('lost')) })
    }
    const standing = new Set(movable.map(({ worker }) => worker))
    if (left.crashes > 0) {
      for (const worker of standing) all.push({ name: `${worker} crashes`, take: () => crash(worker) })
    }
    if (left.time > 0 && movable.length > 0) {
      all.push({ name: 'time passes', take: () => (left.time--, time.jump(LEASE_MS + 1)) })
    }
    return all
  }

  function crash(worker: number): void {
    left.crashes--
    gates.crash(worker)
    workers[worker]?.stop()
  }

  await turn()
  for (let step = 0; ; step++) {
    if (step > MOST_STEPS) throw new RangeError(`it does not end: ${trace.join(', ')}`)
    const open = options()
    if (open.length > 0) {
      const taken = open[open.length === 1 ? 0 : choose(open.length)]
      trace.push(taken?.name ?? '')
      await taken?.take()
      await turn()
    } else {
      const isOver = calls.every(({ now }, worker) => now.state !== 'waiting' || gates.hasCrashed(worker))
      if (isOver || !(await time.next())) break
    }
  }

  await time.jump(LEASE_MS + 1)
  const third = createIbid({
    store: watched(planted, breaches, (token) => token.startsWith('2.')),
    timers: time.worker().timers,
    newToken: () => '2.1',
    housekeeping: false,
  })
  await third.sweep()
  const { recovery } = policyOf(2)
  const checked = { check: (attempt: Attempt) => Promise.resolve(ask(attempt)) }
  const last = seen(
    third.once(WHERE, (attempt) => arrive(attempt), {
      lease: LEASE_MS,
      wait: 0,
      maxAttempts: 9,
      recovery: typeof recovery === 'object' ? checked : setting.policy === 'retry' ? 'retry' : 'hold',
    }),
  )
  await time.pass(LEASE_MS)

  function ask(attempt: Attempt): CheckResult<string> {
    fenced(attempt.epoch)
    const first = landings[0]
    return first ? { found: true, value: first.value } : { found: false }
  }
  function arrive(attempt: Attempt): string {
    fenced(attempt.epoch)
    const value = `value ${landings.length}`
    landings.push({ value, epoch: attempt.epoch, attempt: attempt.number, overtaken: false })
    return value
  }

  const ends = [...calls, last].map(({ now }) => now)
  return {
    landings,
    calls: ends.map(({ state }) => state),
    values: ends.flatMap((end) => (end.state === 'done' ? [end.value.value] : [])),
    errors: ends.map((end) => (end.state === 'failed' ? (end.error.code ?? end.error.message) : undefined)),
    receipt: await current(),
    breaches,
    trace,
  }
}

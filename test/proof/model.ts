/**
 * A small world with random workers, keys, payloads, policies, faults and schedules, and the model that says what
 * may come of it. The model knows nothing of the engine: it keeps what callers asked for and what effects did, and
 * compares that with what callers were told and what the receipts say.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Attempt, CheckResult, Policy } from '../../src/core/policy.js'
import { decodeOutcome } from '../../src/core/outcome.js'
import { createIbid, type Ibid, IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { faultyStore, random, type TestClock } from '../../src/testing/index.js'
import { TOLD_CODES } from '../../src/testing/simulation/calls.js'
import { ENDS as ALL_ENDS } from '../../src/testing/simulation/scenario.js'
import { virtualTime, type VirtualTime } from '../../src/testing/virtual-time.js'
import { type Change, watched } from '../../src/testing/watched-store.js'

/** Each key keeps to one policy, so that its promise can be held against it. */
export const KEYS = ['hold', 'retry', 'check'] as const
/** An effect that lands after it failed is left to the simulation, which knows when. */
export const ENDS = ALL_ENDS.filter((end) => end !== 'lands later')
export type End = (typeof ENDS)[number]

export type Command =
  | {
      readonly kind: 'call'
      readonly worker: number
      readonly key: number
      readonly payload: number
      readonly end: End
      /** How long the effect takes. */
      readonly ms: number
    }
  | { readonly kind: 'pass' | 'jump'; readonly ms: number }
  | { readonly kind: 'crash'; readonly worker: number }
  | { readonly kind: 'sweep'; readonly worker: number }
  | {
      readonly kind: 'resolve'
      readonly worker: number
      readonly key: number
      readonly as: 'succeeded' | 'released'
    }
  | { readonly kind: 'outage'; readonly worker: number; readonly ms: number }

interface Landing {
  readonly key: string
  readonly payload: number
  readonly value: string
  /** When it landed, its attempt did not own the receipt any more. */
  readonly overtaken: boolean
}

/** What the receipts of a key went through. */
interface Story {
  /** Begun anew: for the first time, or after the window. */
  lives: number
  /** How many effects there were when its last life began. */
  began: number
  /** Times that somebody became its owner. */
  grants: number
  /** Times that a person may have given it back. */
  pardons: number
  /** Every value that was ever settled. */
  readonly settled: Set<unknown>
}

interface Told {
  readonly key: string
  readonly payload: number
  readonly value?: unknown
  readonly code?: string
}

export interface World {
  run(command: Command): Promise<void>
  /** Lets everything end, and returns what broke a promise. */
  end(): Promise<string[]>
  /** How many callers have a value so far. */
  values(): number
}

const LEASE_MS = 1_000
const WINDOW_MS = 60_000
const TENANT = { tenant: 'acme', scope: 'model' }

export function createWorld(open: (clock: TestClock) => Store, seed: number, faults: number): World {
  const time = virtualTime()
  const inner = open(time.clock)
  const chance = random(seed)
  const landings: Landing[] = []
  const breaches: string[] = []
  const stories = new Map<string, Story>()
  for (const key of KEYS) stories.set(key, { lives: 0, began: 0, grants: 0, pardons: 0, settled: new Set() })
  const told: Told[] = []
  /** What a person said by resolving: values that came from no effect. */
  const said = new Set<unknown>()
  const hanging: (() => void)[] = []
  let started = 0
  let calls = 0
  let workers = [0, 1, 2].map(() => startWorker())

  function note({ before, after, now }: Change): void {
    const story = stories.get(after.key) as Story
    const isOver = before === undefined || (before.state !== 'pending' && (before.until ?? now + 1) <= now)
    if (after.state === 'pending' && after.token !== before?.token) {
      story.grants++
      if (isOver) {
        story.lives++
        story.began = landings.length
      }
    }
    if (after.state !== 'succeeded' || after.outcome === null) return
    const outcome = decodeOutcome(after.outcome)
    if (outcome.kind === 'value') story.settled.add(outcome.value)
  }

  function startWorker() {
    const { timers, stop } = time.worker()
    const pause = (ms: number): Promise<void> => new Promise((resolve) => void timers.after(ms, resolve))
    const plan = (['refused', 'lost', 'delayed', 'late'] as const).map((kind) => ({
      kind,
      probability: faults,
      ms: Math.floor(chance.next() * 2 * LEASE_MS),
      verbs: ['claim', 'swap', 'get'] as const,
    }))
    const name = `${++started}.`
    const seeing = watched(inner, breaches, (token) => token.startsWith(name), note)
    const store = faultyStore(seeing, { faults: plan, seed: Math.floor(chance.next() * 2 ** 31), pause })
    // Answers arrive in another order than they were asked for.
    const shuffled = (verb: 'claim' | 'swap') => async (given: never) => {
      for (let turns = Math.floor(chance.next() * 4); turns > 0; turns--) await immediate()
      return await (store[verb] as (given: never) => Promise<never>)(given)
    }
    const late = { ...store, claim: shuffled('claim'), swap: shuffled('swap') } as unknown as Store
    const ibid: Ibid = createIbid({
      store: late,
      timers,
      housekeeping: false,
      newToken: () => `${name}${++calls}`,
    })
    return { ibid, store, timers, stop }
  }

  async function isOvertaken(key: string, epoch: number): Promise<boolean> {
    const receipt = (await inner.get([{ ...TENANT, key }])).receipts[0]
    return receipt?.epoch !== epoch || receipt.state !== 'pending'
  }

  function effectOf(command: Extract<Command, { kind: 'call' }>, key: string, timers: VirtualTime['timers']) {
    const { payload, end, ms } = command
    return async (attempt: Attempt): Promise<string> => {
      if (ms > 0) await new Promise<void>((resolve) => void timers.after(ms, resolve))
      if (end === 'rejected') throw new Rejected('refused')
      if (end === 'not executed') throw new NotExecuted('not done')
      if (end === 'throws') throw new TypeError('failed before it happened')
      const value = `${key} ${payload} ${landings.length} ${attempt.number}`
      landings.push({ key, payload, value, overtaken: await isOvertaken(key, attempt.epoch) })
      if (end === 'unknown') throw new OutcomeUnknown('who knows')
      if (end === 'throws after') throw new TypeError('failed after it happened')
      if (end === 'hangs') await new Promise<void>((resolve) => void hanging.push(resolve))
      return value
    }
  }

  function call(command: Extract<Command, { kind: 'call' }>): void {
    const { ibid, timers } = workers[command.worker] as (typeof workers)[0]
    const key = KEYS[command.key] as (typeof KEYS)[number]
    const { payload } = command
    const check = (): CheckResult<string> => {
      const { began } = stories.get(key) as Story
      const first = landings.find((one, at) => at >= began && one.key === key && one.payload === payload)
      return first ? { found: true, value: first.value } : { found: false }
    }
    const policy: Policy<string> = {
      lease: LEASE_MS,
      window: WINDOW_MS,
      timeout: 5 * LEASE_MS,
      wait: 2 * LEASE_MS,
      maxAttempts: 3,
      recovery: key === 'check' ? { check } : key,
    }
    ibid.once({ ...TENANT, key, payload }, effectOf(command, key, timers), policy).then(
      ({ value }) => told.push({ key, payload, value }),
      (error: unknown) => {
        const code =
          error instanceof IbidError ? error.code : error instanceof TypeError ? 'EFFECT' : String(error)
        told.push({ key, payload, code })
      },
    )
  }

  function resolve({ worker, key, as }: Extract<Command, { kind: 'resolve' }>): void {
    const { ibid } = workers[worker] as (typeof workers)[0]
    const value = `said ${++calls}`
    said.add(value)
    if (as === 'released') (stories.get(KEYS[key] as string) as Story).pardons++
    const where = { ...TENANT, key: KEYS[key] as string }
    const resolution = as === 'succeeded' ? { as, value } : { as }
    void ibid.resolve(where, resolution, { by: 'model', why: 'chance' }).catch(() => undefined)
  }

  async function run(command: Command): Promise<void> {
    switch (command.kind) {
      case 'call':
        call(command)
        break
      case 'pass':
        await time.pass(command.ms)
        break
      case 'jump':
        await time.jump(command.ms)
        break
      case 'resolve':
        resolve(command)
        break
      case 'sweep':
        void workers[command.worker]?.ibid.sweep().catch(() => undefined)
        break
      case 'crash':
        workers[command.worker]?.stop()
        workers = workers.with(command.worker, startWorker())
        break
      case 'outage': {
        const { store, timers } = workers[command.worker] as (typeof workers)[0]
        store.startOutage()
        timers.after(command.ms, () => store.endOutage())
      }
    }
    await immediate()
  }

  async function end(): Promise<string[]> {
    await time.pass(10 * LEASE_MS)
    for (const go of hanging) go()
    await time.pass(WINDOW_MS / 2)
    const last = createIbid({ store: inner, timers: time.worker().timers, housekeeping: false })
    await last.sweep()
    return [...breaches, ...judgeTold(told, landings, said, stories), ...judgeStories(landings, stories)]
  }

  return { run, end, values: () => told.filter(({ code }) => code === undefined).length }
}

const CODES = new Set(TOLD_CODES)

function judgeTold(
  told: readonly Told[],
  landings: readonly Landing[],
  said: ReadonlySet<unknown>,
  stories: ReadonlyMap<string, Story>,
): string[] {
  const problems: string[] = []
  for (const { key, payload, value, code } of told) {
    if (code !== undefined && !CODES.has(code)) problems.push(`an error without a name: ${code}`)
    if (code !== undefined) continue
    if (!stories.get(key)?.settled.has(value))
      problems.push(`a value that was never settled: ${String(value)}`)
    if (said.has(value)) continue
    const landing = landings.find((one) => one.value === value)
    if (!landing) problems.push(`a value that never landed: ${String(value)}`)
    else if (landing.key !== key) problems.push(`the value of ${landing.key} for ${key}`)
    else if (landing.payload !== payload)
      problems.push(`the value of payload ${landing.payload} for ${payload}`)
  }
  return problems
}

function judgeStories(landings: readonly Landing[], stories: ReadonlyMap<string, Story>): string[] {
  const problems: string[] = []
  for (const [key, { lives, grants, pardons }] of stories) {
    const mine = landings.filter((landing) => landing.key === key)
    const owned = mine.filter(({ overtaken }) => !overtaken)
    if (mine.length > grants) problems.push(`${key}: ${mine.length} effects under ${grants} grants`)
    if (key === 'hold' && mine.length > lives + pardons)
      problems.push(`hold: ${mine.length} effects in ${lives} lives`)
    if (key === 'check' && owned.length > lives + pardons)
      problems.push(`check: ${owned.length} in ${lives} lives`)
  }
  return problems
}

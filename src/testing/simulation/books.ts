/**
 * The books of a simulated world: what receipts went through, what effects did and what callers were told, and the
 * promises that all of it is held against, at every entry. They know nothing of the engine, only of receipts.
 */
import { decodeOutcome } from '../../core/outcome.js'
import type { Receipt } from '../../core/receipt.js'
import type { Change } from '../watched-store.js'
import type { KeyPlan } from './scenario.js'

export interface Violation {
  /** Which promise: the same for every way in which it can be broken. */
  readonly promise: string
  readonly text: string
}

/** What an effect knows of its attempt. */
export interface Grant {
  readonly epoch: number
  readonly number: number
}

/** The failure of an effect that says nothing about what happened. */
export class EffectFailed extends TypeError {}

interface Landing extends Grant {
  readonly value: string
  readonly payload: number
  /** The receipt was not its attempt's any more. */
  readonly overtaken: boolean
}

/** One receipt from its first claim to the end of its window. */
interface Life {
  readonly landings: Landing[]
  /** Times that a person gave it back: whoever does that answers for a second effect. */
  pardons: number
  settled?: { readonly value: unknown }
}

interface Story {
  readonly plan: KeyPlan
  readonly lives: Life[]
  /** Which life an epoch belongs to. */
  readonly lifeOf: Map<number, Life>
  receipt: Receipt | undefined
  fence: number
  /** Persons who are giving it back at this moment. */
  pardoning: number
  /** What transactions wrote, as far as their callers know. */
  landed: number
}

export interface Books {
  readonly violations: readonly Violation[]
  broken(promise: string, text: string): void
  /** A receipt did what none may do, as far as its store's clock can be trusted. */
  breached(what: string): void
  onChange(change: Change): void
  /** An effect begins. */
  started(key: string, grant: Grant): void
  /** An effect happens; throws where the downstream fences and has seen a later epoch. Returns its value. */
  land(key: string, payload: number, grant: Grant): string
  /** The name that the next effect inside a transaction gives to its value. */
  draft(key: string, payload: number): string
  /** What a status check finds downstream. */
  find(key: string, payload: number, grant: Grant): string | undefined
  /** A caller got a value. */
  told(key: string, payload: number, value: unknown, epoch: number): void
  /** A person starts to give a held one back; call the result when that has ended. */
  pardon(key: string): () => void
  /** The store's clock was set: what was over may not be, and the other way round. */
  clockMoved(): void
  /** What the transactions of a key have left in the store. */
  committed(key: string, values: readonly string[]): void
  receipt(key: string): Receipt | undefined
}

/** Rules that ask what time it is. */
const TIMED = /lease is alive|a settled receipt changed|the fingerprint changed/

export function createBooks(keys: readonly KeyPlan[], onBroken: (violation: Violation) => void): Books {
  const violations: Violation[] = []
  const stories = new Map<string, Story>()
  let isClockSteady = true
  for (const plan of keys) {
    stories.set(plan.name, {
      plan,
      lives: [],
      lifeOf: new Map(),
      receipt: undefined,
      fence: -1,
      pardoning: 0,
      landed: 0,
    })
  }
  const story = (key: string): Story => stories.get(key) as Story
  function broken(promise: string, text: string): void {
    violations.push({ promise, text })
    onBroken({ promise, text })
  }

  /** Whoever comes to the downstream shows its epoch. */
  function arrive(one: Story, epoch: number): void {
    if (one.plan.fences && epoch < one.fence) throw new EffectFailed('the downstream has seen a later epoch')
    one.fence = Math.max(one.fence, epoch)
  }

  function judgeLanding({ plan }: Story, life: Life, landing: Landing): void {
    const { name, policy, fences } = plan
    const most = 1 + life.pardons
    const all = life.landings
    if (policy === 'hold' && all.length > most)
      broken('hold: never two effects', `${name} had ${all.length} effects`)
    const same = all.filter(({ number }) => number === landing.number)
    if (policy === 'retry' && same.length > most)
      broken(
        'retry: no more effects than attempts',
        `${name} had ${same.length} effects under attempt ${landing.number}`,
      )
    const owned = fences ? all : all.filter(({ overtaken }) => !overtaken)
    if (policy === 'check' && owned.length > most)
      broken('check: never two effects', `${name} had ${owned.length} effects`)
    if (all.some((one) => one !== landing && one.epoch === landing.epoch))
      broken('one effect per attempt', `${name} had two effects under epoch ${landing.epoch}`)
  }

  return {
    violations,
    broken,
    breached(what) {
      if (isClockSteady || !TIMED.test(what)) broken(what.replace(/^\w+: /, ''), what)
    },
    onChange({ before, after, now }) {
      const one = story(after.key)
      one.receipt = after
      if (after.state === 'pending' && after.epoch !== before?.epoch) {
        // Where the clock was set back in between, what was over is not any more: then its maker's word is taken.
        const isOver =
          !before ||
          (before.state !== 'pending' &&
            before.state !== 'unknown' &&
            before.until !== null &&
            (before.until <= now || (!isClockSteady && after.createdAt !== before.createdAt)))
        if (isOver) one.lives.push({ landings: [], pardons: 0 })
        one.lifeOf.set(after.epoch, one.lives.at(-1) as Life)
        if (one.plan.policy !== 'transact' && after.attempt > one.plan.maxAttempts)
          broken('attempts are capped', `${after.key} has attempt ${after.attempt}`)
      }
      const life = one.lifeOf.get(after.epoch)
      if (!life) return
      if (before?.state === 'unknown' && after.state === 'released' && one.pardoning > 0) life.pardons++
      if (after.state !== 'succeeded' || after.outcome === null) return
      const outcome = decodeOutcome(after.outcome)
      if (outcome.kind === 'value') life.settled = { value: outcome.value }
    },
    started(key, { epoch, number }) {
      const { receipt } = story(key)
      if (isClockSteady && (receipt?.epoch !== epoch || receipt.state !== 'pending'))
        broken('no effect starts without its lease', `attempt ${number} of ${key} started after it was lost`)
    },
    land(key, payload, { epoch, number }) {
      const one = story(key)
      arrive(one, epoch)
      const value = `${key}/${payload}/effect ${++one.landed}`
      const life = one.lifeOf.get(epoch)
      if (!life) {
        broken(
          'no effect without a claim',
          `${key} had an effect under epoch ${epoch}, which was never given`,
        )
        return value
      }
      const overtaken = one.receipt?.epoch !== epoch || one.receipt.state !== 'pending'
      const landing = { epoch, number, value, payload, overtaken }
      life.landings.push(landing)
      judgeLanding(one, life, landing)
      return value
    },
    draft(key, payload) {
      return `${key}/${payload}/effect ${++story(key).landed}`
    },
    find(key, payload, { epoch }) {
      const one = story(key)
      arrive(one, epoch)
      return one.lifeOf.get(epoch)?.landings.find((landing) => landing.payload === payload)?.value
    },
    told(key, payload, value, epoch) {
      const life = story(key).lifeOf.get(epoch)
      const said = String(value)
      if (!life?.settled) broken('every value told is settled', `a caller of ${key} has ${said}`)
      else if (life.settled.value !== value)
        broken(
          'one value for all callers',
          `${key} is ${String(life.settled.value)}, and a caller has ${said}`,
        )
      else if (!said.startsWith(`${key}/${payload}/`) && !said.startsWith(`${key}/said `))
        broken('no value of another payload', `a caller of ${key}/${payload} has ${said}`)
    },
    pardon(key) {
      const one = story(key)
      one.pardoning++
      return () => void one.pardoning--
    },
    clockMoved() {
      isClockSteady = false
    },
    committed(key, values) {
      const settled = story(key).lives.flatMap((life) => (life.settled ? [String(life.settled.value)] : []))
      const effects = settled.filter((value) => !value.startsWith(`${key}/said `))
      if (effects.join() !== values.join())
        broken(
          'transact: one effect with its receipt',
          `${key} has the effects [${values.join(', ')}] and receipts for [${effects.join(', ')}]`,
        )
    },
    receipt: (key) => story(key).receipt,
  }
}

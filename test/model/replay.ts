/**
 * A trace of the model, step by step, on the real engine. Each step must be possible there, have the same result, and
 * leave the receipt in the same state: state, owner, attempt, whether its time is over, and the order of the epochs.
 */
import type { Step, Trace } from '../../scripts/model/traces.mjs'
import type { Resolution } from '../../src/engine/resolve.js'
import type { Store } from '../../src/store.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type Seen, seen, turn, WHERE } from '../engine/bench.js'
import { virtualTime } from '../../src/testing/virtual-time.js'
import { createGates, type Parked } from '../proof/gates.js'
import { answerOf, createActors, errorOf, LEASE_MS, WINDOW_MS } from './actors.js'
import { epochRanks, unlike } from './compare.js'
import { labelOf, type Verb } from './gated-store.js'

export interface Mismatch {
  readonly seed: number
  readonly at: number
  readonly step: string
  readonly why: string
}

const PERSON = 21
/** The longest pause of the engine between two tries is a second: whoever is not there by then does not come. */
const PAUSES_MS = [0, 25, 100, 400, 1_000]

class Unlike extends Error {}

/** Undefined: the engine does what the model does, to the end. */
export async function replay(trace: Trace, plant?: (store: Store) => Store): Promise<Mismatch | undefined> {
  const time = virtualTime()
  const inner = memoryStore({ clock: time.clock })
  const gates = createGates()
  let byTimer = false
  const actors = createActors(trace, plant ? plant(inner) : inner, gates, time, () => byTimer)
  const rankOf = epochRanks()
  const begun = new Map<number, number>()
  const asides: { readonly now: Seen<unknown> }[] = []

  async function passing(how: 'pass' | 'jump', ms: number): Promise<void> {
    // What the step before has set off is not the timers' doing.
    await turn()
    await turn()
    byTimer = true
    await time[how](ms)
    byTimer = false
  }

  /** Waits for somebody to stand at a gate; the engine's own pauses between two tries are waited for, too. */
  async function standing(who: number, label: string, after: boolean): Promise<Parked> {
    for (const pauseMs of PAUSES_MS) {
      if (pauseMs > 0) await passing('pass', pauseMs)
      const there = gates.parked.filter((it) => it.worker === who && it.after === after && it.label === label)
      // A call that has ended may have left somebody standing: the last to arrive is the one that is meant. Of two
      // renewals of one call it is the first: the second is of the check that came after the effect.
      const one = label.includes('of call') ? there[0] : there.at(-1)
      if (one) return one
    }
    const there = gates.parked.map((it) => `${it.worker} ${it.label}${it.after ? ' (answered)' : ''}`)
    throw new Unlike(`${who} is not at ${label}${after ? ' (answered)' : ''}; there are: ${there.join(', ')}`)
  }

  async function carryOut(who: number, verb: Verb, how: string, label = labelOf(verb, false)): Promise<void> {
    const gate = await standing(who, label, false)
    gate.go(how === 'REFUSED' ? 'lost' : 'on')
    await passing('pass', 0)
    if (how === 'REFUSED') return
    const said = actors.actor(who).said()
    const expected = how === 'WON' || how === 'DONE' || how === 'OK'
    if (verb !== 'get' && verb !== 'scan' && said !== expected)
      throw new Unlike(`the store said ${said ? 'yes' : 'no'} to ${label}`)
  }

  /** The model asks again at once, and time passes then: the engine's pause before that is over before time does. */
  async function askingAgain(who: number): Promise<void> {
    for (const pauseMs of PAUSES_MS) {
      if (gates.parked.some((it) => it.worker === who && it.label === labelOf('claim', false))) return
      if (pauseMs <= 100) await passing('pass', pauseMs)
    }
  }

  /** A call in the background, and its answer with it. */
  async function andBack(who: number, how: string, label = labelOf('swap', false)): Promise<void> {
    await carryOut(who, 'swap', how, label)
    if (how === 'REFUSED') return
    const answered = await standing(who, label, true)
    answered.go('on')
  }

  /** An earlier claim of the same worker may still be looked for as well: it finds what is not its own, and ends. */
  async function giveBack(owner: number, how: string): Promise<void> {
    const isAt = (label: string): boolean =>
      gates.parked.some((it) => it.worker === owner && !it.after && it.label === label)
    await carryOut(owner, 'get', 'OK', labelOf('get', true))
    if (how !== 'DONE') return
    for (const pauseMs of PAUSES_MS) {
      if (isAt(labelOf('swap', false))) break
      if (pauseMs > 0) await passing('pass', pauseMs)
      if (isAt(labelOf('get', true))) await carryOut(owner, 'get', 'OK', labelOf('get', true))
    }
    await andBack(owner, how)
  }

  async function answer(who: number, how: string): Promise<void> {
    const gate = gates.parked.findLast((it) => it.worker === who && it.after && !it.label.includes('timer'))
    if (!gate) throw new Unlike(`nothing was answered to ${who}`)
    gate.go(how === 'LOST' ? 'lost' : 'on')
  }

  async function step(one: Step, at: number): Promise<void> {
    const { who, what, how } = one
    const token = begun.get(who) ?? 0
    const owner = Math.floor((who - 1) / trace.calls)
    switch (what) {
      case 'BEGIN':
        begun.set(who, token === 0 ? who * trace.calls + 1 : token + 1)
        return actors.begin(who, begun.get(who) as number)
      case 'CLAIM':
        return await carryOut(who, 'claim', how)
      case 'MOVE':
      case 'REGAIN':
        await carryOut(who, 'swap', how)
        return how === 'REFUSED' ? await askingAgain(who) : undefined
      case 'ASK':
      case 'SETTLE':
      case 'RESOLVE':
        return await carryOut(who, 'swap', how)
      case 'LOOK':
        return await carryOut(who, 'get', how)
      case 'ANSWER':
        return await answer(who, how)
      case 'CHECKS':
        return must(actors.call(token)?.checks.shift(), 'no check was asked')(answerOf(how))
      case 'EFFECT': {
        const effect = must(actors.call(token)?.effects.shift(), 'the effect was not started')
        return how === 'OK' ? effect.resolve('done') : effect.reject(errorOf(how))
      }
      case 'LAND':
      case 'DROP':
        return void must(actors.call(who)?.started || undefined, 'nothing is in the air')
      case 'RENEW':
        return await andBack(owner, how, labelOf('swap', true, who))
      case 'GIVEBACK':
        return await giveBack(owner, how)
      case 'TICK':
        return await passing('jump', LEASE_MS + 1)
      case 'EXPIRE':
        return await passing('jump', WINDOW_MS + LEASE_MS + 1)
      case 'CRASH':
        gates.crash(who)
        return actors.actor(who).stop()
      case 'SCAN':
        asides.push(seen(actors.actor(who).ibid.sweep()))
        return await carryOut(who, 'scan', how)
      case 'SWEEP':
        return await andBack(who, how)
      case 'PURGE':
        return await carryOut(who, 'purge', how)
      case 'READ':
        asides.push(seen(actors.actor(PERSON).ibid.resolve(WHERE, resolutionIn(trace, at), BY)))
        return await carryOut(who, 'get', how)
      case 'DECIDE':
        return await andBack(who, how)
      case 'END':
        return ended(how, actors.call(token)?.now())
      default:
        throw new Unlike(`the replay does not know ${what}`)
    }
  }

  for (const [at, one] of trace.steps.entries()) {
    // The last line is the model's own: what would become of the receipt a window later.
    if (one.who === 22 && one.what === 'END') break
    try {
      await step(one, at)
      // A millisecond for each step, so that no two claims are of the same instant.
      await passing('pass', 1)
      const { receipts, now } = await inner.get([WHERE])
      const why = unlike(one.receipt, receipts[0], now, rankOf)
      if (why !== undefined) throw new Unlike(why)
    } catch (error) {
      if (!(error instanceof Unlike)) throw error
      return { seed: trace.seed, at, step: one.line, why: error.message }
    }
  }
  return undefined
}

const BY = { by: 'a person', why: 'the model says so' }

function must<T>(value: T | undefined, why: string): T {
  if (value === undefined) throw new Unlike(why)
  return value
}

/** A person knows what to say before the receipt is looked at; the model tells with the write. */
function resolutionIn({ steps }: Trace, at: number): Resolution {
  const decided = steps.slice(at).find(({ what }) => what === 'DECIDE')
  const state = decided?.how === 'DONE' ? decided.receipt.state : 'released'
  if (state === 'succeeded') return { as: 'succeeded', value: 'done' }
  return state === 'failed' ? { as: 'failed', error: { message: 'it did not happen' } } : { as: 'released' }
}

const CODES: Readonly<Record<string, string>> = {
  INFLIGHT: 'RETRY_IN_FLIGHT',
  HELD: 'OUTCOME_UNKNOWN',
  LEASELOST: 'LEASE_LOST',
  UNAVAILABLE: 'STORE_UNAVAILABLE',
}

function ended(how: string, now: Seen<{ replayed: boolean }> | undefined): void {
  if (!now || now.state === 'waiting') throw new Unlike('the call has not ended')
  if (how === 'REPLAY') {
    const replayed = now.state === 'done' ? now.value.replayed : now.error.replayed
    if (!replayed) throw new Unlike('the call was not answered with a replay')
    return
  }
  const code = now.state === 'failed' ? now.error.code : undefined
  const wanted = CODES[how]
  if (wanted !== undefined && code !== wanted)
    throw new Unlike(`the call ended with ${now.state} ${code}, not with ${wanted}`)
  if (how === 'DONE' && (code === 'LEASE_LOST' || code === 'STORE_UNAVAILABLE' || code === 'RETRY_IN_FLIGHT'))
    throw new Unlike(`the call ended with ${code}, and the model with its own end`)
}

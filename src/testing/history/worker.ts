/**
 * The script of a process that records what it does: claims, swaps and reads of a few keys, several at once, each
 * with the time of its call and of its return. The clock is the computer's monotonic one, the same for all processes.
 */
import { asWritten, type Draft, type Receipt, type State } from '../../core/receipt.js'
import type { Claimed, Store, Swap, Swapped } from '../../store.js'
import { serve } from '../process/serve.js'
import { type Random, random } from '../random.js'
import type { Opening } from '../store/child.js'
import { draft, next } from '../store/drafts.js'
import type { Action, Held, Operation } from './linearize.js'

export interface Round {
  readonly keys: readonly string[]
  /** How many operations, and how many of them at once. */
  readonly operations: number
  readonly atOnce: number
  readonly seed: number
}

let store: Store | undefined
let made = 0

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function heldOf({ token, state, outcome }: Receipt | Draft): Held {
  return { token, state, mark: outcome }
}

const fresh = (): string => `${process.pid}.${++made}`

/** A swap that this process has reason to try: of what it saw last, or of something older. */
function swapOf(seen: Receipt, { next: chance }: Random): Swap {
  const expect = { token: seen.token, state: seen.state }
  const dice = chance()
  if (dice < 0.3) return { expect, next: next(seen, 'pending', { outcome: null }) }
  if (dice < 0.6)
    return { expect, next: next(seen, 'pending', { token: fresh(), epoch: null, outcome: null }) }
  const state: State = dice < 0.8 ? 'released' : dice < 0.9 ? 'unknown' : 'succeeded'
  const outcome = state === 'succeeded' ? JSON.stringify({ value: fresh() }) : null
  return { expect, next: next(seen, state, { outcome }) }
}

async function round({ keys, operations, atOnce, seed }: Round): Promise<Operation[]> {
  const chance = random(seed)
  const opened = store as Store
  const recorded: Operation[] = []
  const seen = new Map<string, Receipt>()
  let left = operations

  async function record<Out>(
    asked: readonly { readonly key: string; readonly action: Action }[],
    ask: () => Promise<readonly Out[]>,
    answer: (action: Action, out: Out, at: number) => Action,
  ): Promise<void> {
    const calledAt = nowMs()
    const outs = await ask().catch(() => undefined)
    const returnedAt = outs ? nowMs() : Number.MAX_VALUE
    asked.forEach(({ key, action }, at) => {
      const told = outs ? answer(action, outs[at] as Out, at) : action
      recorded.push({ key, process: String(process.pid), calledAt, returnedAt, action: told })
    })
  }

  async function claim(wanted: readonly Draft[]): Promise<void> {
    const asked = wanted.map((one) => ({
      key: one.key,
      action: { verb: 'claim' as const, next: heldOf(one) },
    }))
    await record<Claimed>(
      asked,
      () => opened.claim(wanted),
      (action, out, at) => {
        const mine = wanted[at] as Draft
        seen.set(mine.key, out.won ? asWritten(mine, out.now, out.epoch) : out.found)
        const told = out.won ? { won: true as const } : { won: false as const, found: heldOf(out.found) }
        return { ...action, answer: told } as Action
      },
    )
  }

  async function swap(changes: readonly Swap[]): Promise<void> {
    const asked = changes.map(({ expect, next: after }) => ({
      key: after.key,
      action: { verb: 'swap' as const, expect, next: heldOf(after) },
    }))
    await record<Swapped>(
      asked,
      () => opened.swap(changes),
      (action, out, at) => {
        const { next: after } = changes[at] as Swap
        if (out.done) seen.set(after.key, asWritten(after, out.now, out.epoch))
        return { ...action, answer: { done: out.done } } as Action
      },
    )
  }

  async function get(wanted: readonly string[]): Promise<void> {
    const asked = wanted.map((key) => ({ key, action: { verb: 'get' as const } }))
    await record<Receipt | undefined>(
      asked,
      async () => (await opened.get(wanted.map((key) => draft({ key })))).receipts,
      (action, out) => {
        if (out) seen.set(out.key, out)
        return { ...action, answer: { found: out && heldOf(out) } } as Action
      },
    )
  }

  async function work(): Promise<void> {
    while (left > 0) {
      left--
      const some = chance.shuffle(keys).slice(0, 1 + Math.floor(chance.next() * 2))
      const known = some.flatMap((key) => seen.get(key) ?? [])
      const dice = chance.next()
      if (dice < 0.35) await claim(some.map((key) => draft({ key, token: fresh() })))
      else if (dice < 0.75 && known.length > 0) await swap(known.map((one) => swapOf(one, chance)))
      else await get(some)
    }
  }

  await Promise.all(Array.from({ length: atOnce }, work))
  return recorded
}

serve(
  {
    async open({ module, context }: Opening): Promise<void> {
      const { default: open } = (await import(module)) as {
        default: (given: Opening['context']) => Store | Promise<Store>
      }
      store = await open(context)
    },
    round,
  },
  async () => await store?.close(),
)

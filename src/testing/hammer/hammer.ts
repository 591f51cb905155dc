/**
 * Hammer: the same call, many times at once, in this process and in others; then how often the effect happened and
 * what the callers were told. Point it at a handler of your own: `call` makes one duplicate and returns what its
 * caller would see, `effects` counts what really happened.
 */
import { isDeepStrictEqual } from 'node:util'
import { type IbidError, invalidIntent } from '../../core/errors.js'
import { type Child, compiled, startChild } from '../process/start.js'
import { moduleUrl } from '../store/processes.js'
import { tally } from '../tally.js'
import { type Answered, callAll } from './duplicates.js'

export interface HammerTarget {
  /** Makes duplicate number `n`, in this process. */
  readonly call?: (n: number) => unknown
  /** An ES module whose default export takes `argument` and gives a `HammerHandler`, for the other processes. */
  readonly module?: string | URL
  readonly argument?: unknown
  /** How often the effect has happened. Without it, only the answers are judged. */
  readonly effects?: () => number | Promise<number>
}

export interface HammerOptions {
  /** In each process. Default 50. */
  readonly calls?: number
  /** Besides this one. Default 4 where the target has a module. */
  readonly processes?: number
  /** Errors that say so (`retriable`) are tried again this often, after `retryAfterMs`. Default 100. */
  readonly retries?: number
}

export interface HammerVerdict {
  readonly property: 'one effect' | 'same value' | 'all answered'
  readonly holds: boolean
  readonly why: string
}

export interface HammerReport {
  readonly calls: number
  readonly processes: number
  readonly retries: number
  readonly effects: number | undefined
  /** Every different value, and how many callers got it. */
  readonly values: readonly { readonly value: unknown; readonly times: number }[]
  readonly errors: readonly { readonly code: string; readonly message: string; readonly times: number }[]
  readonly verdicts: readonly HammerVerdict[]
  readonly ok: boolean
}

export async function hammer(target: HammerTarget, options: HammerOptions = {}): Promise<HammerReport> {
  const { calls = 50, retries = 100 } = options
  const count = target.module === undefined ? 0 : (options.processes ?? 4)
  if (calls < 1 || (target.call === undefined && count < 1)) throw nothingToCall()
  const children = Array.from({ length: count }, () => startChild(compiled('./child.js', import.meta.url)))
  try {
    await Promise.all(children.map((child) => child.call('open', openingOf(target))))
    const here = target.call ? [callAll(target.call, calls, 0, retries)] : []
    const there = children.map((child, i) => strike(child, calls, (i + 1) * calls, retries))
    const answers = (await Promise.all([...here, ...there])).flat()
    tally({ interleavings: answers.length })
    return report(answers, here.length + children.length, await target.effects?.())
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}

function nothingToCall(): IbidError {
  return invalidIntent(
    'there is nothing to hammer: no call would be made',
    'give `call`, or `module` and a process or more, and at least one of `calls`: no call is no good news',
  )
}

function openingOf({ module, argument }: HammerTarget): {
  readonly module: string
  readonly argument: unknown
} {
  return { module: moduleUrl(module as string | URL), argument }
}

async function strike(
  child: Child,
  calls: number,
  from: number,
  retries: number,
): Promise<readonly Answered[]> {
  return await child.call<readonly Answered[]>('strike', { calls, from, retries })
}

function report(answers: readonly Answered[], processes: number, effects: number | undefined): HammerReport {
  const values = grouped(answers.flatMap((answer) => ('value' in answer ? [answer.value] : [])))
  const errors = grouped(answers.flatMap((answer) => ('error' in answer ? [answer.error] : [])))
  const failed = errors.reduce((sum, { times }) => sum + times, 0)
  const verdicts: readonly HammerVerdict[] = [
    ...(effects === undefined
      ? []
      : [
          {
            property: 'one effect' as const,
            holds: effects === 1,
            why: `the effect happened ${effects} times`,
          },
        ]),
    {
      property: 'same value',
      holds: values.length <= 1,
      why: `the callers got ${values.length} different values`,
    },
    {
      property: 'all answered',
      holds: failed === 0,
      why: `${failed} of ${answers.length} callers got an error`,
    },
  ]
  return {
    calls: answers.length,
    processes,
    retries: answers.reduce((sum, { retries }) => sum + retries, 0),
    effects,
    values,
    errors: errors.map(({ value: { code, message }, times }) => ({ code: code ?? 'none', message, times })),
    verdicts,
    ok: verdicts.every(({ holds }) => holds),
  }
}

function grouped<T>(items: readonly T[]): { readonly value: T; readonly times: number }[] {
  const groups: { value: T; times: number }[] = []
  for (const item of items) {
    const group = groups.find(({ value }) => isDeepStrictEqual(value, item))
    if (group) group.times++
    else groups.push({ value: item, times: 1 })
  }
  return groups
}

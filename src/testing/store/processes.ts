/** Many processes: the promises of a claim and of a swap, with nothing shared but the store. */
import { pathToFileURL } from 'node:url'
import type { Claimed, Swapped } from '../../store.js'
import { type Child, compiled, startChild } from '../process/start.js'
import { random } from '../random.js'
import { tally } from '../tally.js'
import { type Bench, found, type TestStoreOptions } from './bench.js'
import type { Opening } from './child.js'
import { addressOf } from './claim.js'
import { draft, next, put } from './drafts.js'
import { same } from './expect.js'
import { type Case, type Subject, subject } from './suite.js'

export function processes(options: TestStoreOptions): Subject {
  return subject('processes', options.module === undefined ? {} : cases)
}

const cases: Readonly<Record<string, Case['run']>> = {
  '[R2][R60] lets one process win an address': async (bench) => {
    await withChildren(bench, async (children) => {
      for (let round = 0; round < 5; round++) {
        const address = addressOf(draft())
        const claims = children.map((_, c) => tokens(c, 20).map((token) => [draft({ ...address, token })]))
        const answers = await together<Claimed[][]>(children, 'claim', claims)
        tally({ interleavings: claims.flat().length })
        const winners = claims
          .flatMap((batches, c) => batches.filter((_, i) => answers[c]?.[i]?.[0]?.won))
          .flat()
        same(winners.length, 1, 'over all processes, exactly one claim of an address must win')
        const seen = answers.flat(2).flatMap((result) => (result.won ? [] : [result.found.token]))
        same(
          [...new Set(seen)],
          [winners[0]?.token],
          'all others, in every process, must be told of the winner',
        )
        same((await found(bench.store, address)).token, winners[0]?.token, 'the winner must be what is kept')
      }
    })
  },

  '[R2][R60] lets one process win each of fifty addresses, in any order': async (bench) => {
    await withChildren(bench, async (children) => {
      const { shuffle } = random(2)
      const addresses = Array.from({ length: 50 }, () => addressOf(draft()))
      const claims = children.map((_, c) =>
        Array.from({ length: 4 }, (_, b) =>
          shuffle(addresses).map((a) => draft({ ...a, token: `p${c}-b${b}-${a.key}` })),
        ),
      )
      const answers = await together<Claimed[][]>(children, 'claim', claims)
      tally({ interleavings: claims.flat().length })
      const winners = new Map<string, string[]>()
      const seen = new Map<string, Set<string>>()
      for (const [c, batches] of claims.entries()) {
        for (const [b, batch] of batches.entries()) {
          for (const [i, { key, token }] of batch.entries()) {
            const result = answers[c]?.[b]?.[i]
            if (result?.won) winners.set(key, [...(winners.get(key) ?? []), token])
            else seen.set(key, (seen.get(key) ?? new Set()).add(result?.found.token ?? 'no answer'))
          }
        }
      }
      for (const { key } of addresses) {
        same(winners.get(key)?.length, 1, 'over all processes, each address must have exactly one winner')
        same([...(seen.get(key) ?? [])], winners.get(key), 'all other claims must be told of the winner')
      }
    })
  },

  '[R8][R60] lets one process take a receipt over': async (bench) => {
    await withChildren(bench, async (children) => {
      for (let round = 0; round < 5; round++) {
        const stored = await put(bench.store)
        const expect = { token: stored.token, state: stored.state, until: stored.until }
        const swaps = children.map((_, c) =>
          tokens(c, 10).map((token) => [
            { expect, next: next(stored, 'pending', { token, epoch: null, attempt: 2 }) },
          ]),
        )
        const answers = await together<Swapped[][]>(children, 'swap', swaps)
        tally({ interleavings: swaps.flat().length })
        const winners = swaps
          .flatMap((batches, c) => batches.filter((_, i) => answers[c]?.[i]?.[0]?.done))
          .flat()
        same(winners.length, 1, 'over all processes, exactly one swap of a receipt must be made')
        same(
          (await found(bench.store, stored)).token,
          winners[0]?.next.token,
          'the one that was made must be what is kept',
        )
      }
    })
  },
}

export async function withChildren(
  bench: Bench,
  run: (children: readonly Child[]) => Promise<void>,
  count = bench.options.processes ?? 8,
): Promise<void> {
  const { id, directory, clock } = bench.context
  const opening: Opening = {
    module: moduleUrl(bench.options.module as string | URL),
    context: { id, directory, offsetMs: clock.offset[0] as number },
  }
  const children = Array.from({ length: count }, () => startChild(compiled('./child.js', import.meta.url)))
  try {
    await Promise.all(children.map((child) => child.call('open', opening)))
    await run(children)
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}

/** An import specifier for a module that is given as a URL, the text of one, or a path. */
export function moduleUrl(module: string | URL): string {
  const text = String(module)
  return text.startsWith('file:') ? text : pathToFileURL(text).href
}

/** The same verb in all of them at the same moment, each with its own argument. */
async function together<T>(
  children: readonly Child[],
  verb: string,
  args: readonly unknown[],
): Promise<readonly T[]> {
  return await Promise.all(children.map((child, i) => child.call<T>(verb, args[i])))
}

function tokens(child: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `p${child}-${i}`)
}

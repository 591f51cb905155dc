/** Histories of a store that several processes use at once, and whether each of them can be explained. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, startChild } from '../process/start.js'
import type { ChildContext } from '../store/child.js'
import { type Linearized, linearize, type Operation } from './linearize.js'
import type { Round } from './worker.js'

export interface RecordOptions {
  /** An ES module whose default export takes `{ id, directory, offsetMs }` and opens the store in another process. */
  readonly module: string | URL
  readonly processes: number
  readonly rounds: number
  /** Of one process in one round. */
  readonly operations: number
  readonly seed: number
}

export interface Recording {
  /** That were answered. */
  readonly operations: number
  /** That ended in an error: whether they were done is not known, so they fit in anywhere and prove nothing. */
  readonly unanswered: number
  readonly histories: number
  /** Histories for which there is no order. */
  readonly failed: readonly Extract<Linearized, { ok: false }>[]
}

/** Few enough keys that processes meet on them. */
const KEYS = 3
const AT_ONCE = 4

export async function recordHistories(options: RecordOptions): Promise<Recording> {
  const { processes, rounds, operations, seed } = options
  const directory = await mkdtemp(join(tmpdir(), 'ibid-history-'))
  const context: ChildContext = { id: `history${process.pid}x${seed}`, directory, offsetMs: 0 }
  const children = Array.from({ length: processes }, () =>
    startChild(compiled('./worker.js', import.meta.url)),
  )
  const failed: Extract<Linearized, { ok: false }>[] = []
  let count = 0
  let unanswered = 0
  try {
    const module = String(options.module)
    await Promise.all(children.map((child) => child.call('open', { module, context })))
    for (let round = 0; round < rounds; round++) {
      const keys = Array.from({ length: KEYS }, (_, n) => `key-${seed}-${round}-${n}`)
      const orders = children.map((_, n): Round => {
        return { keys, operations, atOnce: AT_ONCE, seed: seed + round * processes + n }
      })
      const recorded = await Promise.all(
        children.map((child, n) => child.call<Operation[]>('round', orders[n])),
      )
      const all = recorded.flat()
      unanswered += all.filter(({ action }) => action.answer === undefined).length
      count += all.length
      for (const key of keys) {
        const judged = linearize(all.filter((one) => one.key === key))
        if (!judged.ok) failed.push(judged)
      }
    }
  } finally {
    await Promise.all(children.map((child) => child.end()))
    await rm(directory, { recursive: true, force: true })
  }
  return { operations: count - unanswered, unanswered, histories: rounds * KEYS, failed }
}

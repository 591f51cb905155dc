/**
 * A batch, cut into what one script can take: receipts of one shard, in their order, not too many and not too long.
 * Answers are put back in the order of the batch.
 */
import type { Address } from '../../core/receipt.js'
import { digestOf, type Layout, type Shard } from './layout.js'

export interface Cut<T> {
  readonly shard: Shard
  readonly items: T[]
  /** Where each stood in the batch. */
  readonly positions: number[]
  /** The keys of the receipts. */
  readonly keys: string[]
  length: number
}

/** A server does nothing else while it runs a script: a few milliseconds at most. */
const MOST_ITEMS = 512
const MOST_CHARACTERS = 4 * 1024 * 1024

export function cut<T>(
  layout: Layout,
  batch: readonly T[],
  addressOf: (item: T) => Address,
  lengthOf: (item: T) => number,
): readonly Cut<T>[] {
  const cuts: Cut<T>[] = []
  const last = new Map<Shard, Cut<T>>()
  for (let position = 0; position < batch.length; position++) {
    const item = batch[position] as T
    const digest = digestOf(addressOf(item))
    const shard = layout.shardOf(digest)
    let one = last.get(shard)
    if (!one || one.items.length >= MOST_ITEMS || one.length + lengthOf(item) > MOST_CHARACTERS) {
      one = { shard, items: [], positions: [], keys: [], length: 0 }
      cuts.push(one)
      last.set(shard, one)
    }
    one.items.push(item)
    one.positions.push(position)
    one.keys.push(shard.receipts + digest)
    one.length += lengthOf(item)
  }
  return cuts
}

/** Runs every cut, and puts what came of each item in its place. */
export async function runCuts<T, Result>(
  cuts: readonly Cut<T>[],
  run: (one: Cut<T>) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const [only] = cuts
  if (only && cuts.length === 1) return run(only)
  const answers = await Promise.all(cuts.map(run))
  const results: Result[] = []
  for (let c = 0; c < cuts.length; c++) {
    const { positions } = cuts[c] as Cut<T>
    const answer = answers[c] as readonly Result[]
    for (let i = 0; i < positions.length; i++) results[positions[i] as number] = answer[i] as Result
  }
  return results
}

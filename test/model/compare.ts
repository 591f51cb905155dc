/** The model's receipt against the stored one. Epochs are compared by their order: the model counts, a clock jumps. */
import type { ModelReceipt } from '../../scripts/model/traces.mjs'
import type { Receipt } from '../../src/core/receipt.js'
import { callOf } from './token.js'

export type RankOf = (epoch: number, rank: number) => string | undefined

/** Each rank of the model stands for one epoch of the store, and higher ranks for higher epochs. */
export function epochRanks(): RankOf {
  const epochs = new Map<number, number>()
  return (epoch, rank) => {
    const known = epochs.get(rank)
    if (known !== undefined) return known === epoch ? undefined : `epoch ${epoch} is not epoch ${known}`
    const below = [...epochs].filter(([other]) => other < rank)
    if (below.some(([, other]) => other >= epoch)) return `epoch ${epoch} is not above the ones before it`
    epochs.set(rank, epoch)
    return undefined
  }
}

export function unlike(
  model: ModelReceipt,
  stored: Receipt | undefined,
  now: number,
  rankOf: RankOf,
): string | undefined {
  const state = stored?.state ?? 'absent'
  if (state !== model.state) return `the receipt is ${state}, not ${model.state}`
  if (!stored) return undefined
  if (callOf(stored.token) !== model.token) return `its owner is call ${stored.token}, not ${model.token}`
  if (stored.attempt !== model.attempt) return `it counts ${stored.attempt} attempts, not ${model.attempt}`
  const isOver = stored.until !== null && now >= stored.until
  if (isOver !== model.ended) return isOver ? 'its time is over' : 'its time is not over'
  return rankOf(stored.epoch, model.epoch)
}

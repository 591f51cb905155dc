/** Compare-and-swap: one script for the changes of a shard. An answer names those that were not made. */
import type { Swap, Swapped } from '../../store.js'
import { cut, runCuts } from './batches.js'
import type { Answer } from './driver.js'
import type { Shard } from './layout.js'
import { SWAP_ONE, swapArgs } from './lone.js'
import { createRuns } from './runs.js'
import { SWAP } from './scripts.js'
import type { Session } from './session.js'

export async function swap(session: Session, changes: readonly Swap[]): Promise<readonly Swapped[]> {
  const { layout } = await session.ready()
  const cuts = cut(
    layout,
    changes,
    ({ next }) => next,
    ({ next }) => next.outcome?.length ?? 0,
  )
  return runCuts(cuts, async ({ shard, items, keys }) =>
    readSwapped(await send(session, shard, items, keys, layout.channel, cuts.length === 1), items),
  )
}

/** Not `isWhole`: a part of a batch, which a script of its own might carry out before the others. */
function send(
  session: Session,
  { journal }: Shard,
  changes: readonly Swap[],
  keys: readonly string[],
  channel: string,
  isWhole: boolean,
): Promise<Answer> {
  const alone = isWhole && changes.length === 1 ? swapArgs(changes[0] as Swap, channel) : undefined
  if (alone) return session.write(SWAP_ONE, [journal, ...keys], alone)
  const runs = createRuns()
  for (const change of changes) runs.swap(change)
  return session.write(SWAP, [journal, ...keys], [channel, ...runs.args()])
}

function readSwapped(answer: Answer, changes: readonly Swap[]): readonly Swapped[] {
  const now = Number(answer[0])
  const swapped: Swapped[] = changes.map(({ next }) => ({ done: true, now, epoch: next.epoch as number }))
  for (let n = 1; n < answer.length; n += 2) {
    const text = answer[n + 1]
    swapped[Number(answer[n])] = text ? { done: true, now, epoch: Number(text) } : { done: false, now }
  }
  return swapped
}

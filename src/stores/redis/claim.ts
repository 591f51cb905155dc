/** Claims: one script for those of a shard. Nearly all answers are the usual one, which names nothing. */
import type { Draft, Receipt } from '../../core/receipt.js'
import type { Claimed } from '../../store.js'
import { cut, runCuts } from './batches.js'
import { decodeReceipt } from './codec.js'
import type { Answer } from './driver.js'
import { digestOf, type Shard } from './layout.js'
import { subjectLine } from './lines.js'
import { CLAIM_ONE, claimArgs } from './lone.js'
import { createRuns } from './runs.js'
import { CLAIM } from './scripts.js'
import type { Session } from './session.js'
import type { Watch } from './watch.js'

export async function claim(
  session: Session,
  watch: Watch,
  wanted: readonly Draft[],
): Promise<readonly Claimed[]> {
  const { layout } = await session.ready()
  const cuts = cut(
    layout,
    wanted,
    (draft) => draft,
    ({ outcome }) => outcome?.length ?? 0,
  )
  return runCuts(cuts, async ({ shard, items, keys }) => {
    const lines = items.map(subjectLine)
    const answer = await send(session, shard, items, keys, lines, cuts.length === 1)
    return readClaimed(answer, items, lines, watch)
  })
}

/** Not `isWhole`: a part of a batch, which a script of its own might carry out before the others. */
function send(
  session: Session,
  { journal, floor }: Shard,
  drafts: readonly Draft[],
  keys: readonly string[],
  lines: readonly string[],
  isWhole: boolean,
): Promise<Answer> {
  const alone = isWhole && drafts.length === 1 ? claimArgs(drafts[0] as Draft, lines[0] as string) : undefined
  if (alone) return session.write(CLAIM_ONE, [journal, floor, ...keys], alone)
  const runs = createRuns()
  for (let i = 0; i < drafts.length; i++) runs.claim(drafts[i] as Draft, lines[i] as string)
  return session.write(CLAIM, [journal, floor, ...keys], runs.args())
}

function readClaimed(
  answer: Answer,
  wanted: readonly Draft[],
  lines: readonly string[],
  watch: Watch,
): readonly Claimed[] {
  const now = Number(answer[0])
  const usual: Claimed = { won: true, now, epoch: Number(answer[1]) }
  const claimed = wanted.map((): Claimed => usual)
  for (let n = 2; n < answer.length; n += 2) {
    const i = Number(answer[n])
    const text = String(answer[n + 1])
    claimed[i] = isEpoch(text)
      ? { won: true, now, epoch: Number(text) }
      : { won: false, now, found: heard(watch, decodeReceipt(text, wanted[i], lines[i])) }
  }
  return claimed
}

/** Somebody may wait for it. */
function heard(watch: Watch, found: Receipt): Receipt {
  if (found.state === 'pending') watch.remember(digestOf(found), found)
  return found
}

/** The digits of an epoch, or a receipt, which starts with a letter. */
function isEpoch(answer: string): boolean {
  return answer.charCodeAt(0) < 58
}

/**
 * Claims, in rounds. One statement answers all but two kinds of claims: the others of an address that was claimed in
 * the same batch, and one that lost a race to a commit that the statement could not see. Those go into the next round,
 * where the winner can be seen, by one of them for all. A key that somebody is inserting without committing is split
 * off, so that only it waits, and so is a claim with a value that the server refuses.
 */
import type { Draft } from '../../core/receipt.js'
import type { Claimed } from '../../store.js'
import { type Desk, send } from './desk.js'
import { digestOf, mustBe } from './digest.js'
import { tooBusy, wasLocked, wasRefused, wasTaken } from './errors.js'
import { draftColumns, draftValues, type PlacedDraft } from './columns.js'
import { oneEach } from './one-each.js'
import { receiptOf, type Row } from './rows.js'

interface Wanted extends PlacedDraft {
  readonly at: number
}

const MOST_ROUNDS = 50
const SPLIT = 16
/** Where a row says which of the batch were inserted: behind the receipt. */
const WHICH = 21

export async function claim(desk: Desk, drafts: readonly Draft[]): Promise<readonly Claimed[]> {
  const answers: (Claimed | undefined)[] = drafts.map(() => undefined)
  let waiting: readonly Wanted[] = drafts.map(placed)
  for (let round = 0; waiting.length > 0; round++) {
    if (round >= MOST_ROUNDS) throw tooBusy()
    const { first, rest } = oneEach(waiting)
    const missed = await Promise.all(groupByNote(first).map((group) => claimGroup(desk, group, answers)))
    waiting = [...missed.flat(), ...stillOpen(first, rest, answers)]
  }
  for (const answer of answers) {
    if (answer?.won === false && answer.found.state === 'pending') desk.hints.await(answer.found)
  }
  return answers as Claimed[]
}

function placed(draft: Draft, at: number): Wanted {
  return { digest: digestOf(draft), draft, at }
}

/** What one claim of an address has found is what the others of the same batch would find. */
function stillOpen(
  asked: readonly Wanted[],
  rest: readonly Wanted[],
  answers: (Claimed | undefined)[],
): readonly Wanted[] {
  if (rest.length === 0) return rest
  const seen = new Map(asked.map(({ digest, at }) => [digest, answers[at]]))
  return rest.filter(({ digest, at, draft }) => {
    const answer = seen.get(digest)
    if (answer?.won !== false) return true
    mustBe(answer.found, draft)
    answers[at] = answer
    return false
  })
}

async function claimGroup(
  desk: Desk,
  group: readonly Wanted[],
  answers: (Claimed | undefined)[],
): Promise<readonly Wanted[]> {
  const [only, second] = group as readonly [Wanted, Wanted?]
  if (!second) return await claimOne(desk, only, answers)
  const { driver, sql, races } = desk
  const racing = races.expected()
  const { params, shape } = draftColumns(group)
  try {
    const rows = await send(driver, (racing ? sql.claimRacing : sql.claim)(shape), params)
    return readRound(group, rows, answers)
  } catch (error) {
    if (!racing && wasTaken(error)) {
      races.seen()
      return await claimGroup(desk, group, answers)
    }
    if (!(wasLocked(error) || wasRefused(error))) throw error
    return await split(desk, group, answers)
  }
}

/** As if it were new, unless the last one was not: then what is there is asked for at once. */
async function claimOne(
  desk: Desk,
  wanted: Wanted,
  answers: (Claimed | undefined)[],
): Promise<readonly Wanted[]> {
  const values = draftValues(wanted)
  const { driver, sql, duplicates } = desk
  const [stamps] = duplicates.expected ? [] : await send(driver, sql.claimAlone, values)
  if (stamps) {
    answers[wanted.at] = { won: true, now: Number(stamps[0]), epoch: Number(stamps[1]) }
    return []
  }
  const missed = readRound([wanted], await send(driver, sql.claimOne, values), answers)
  duplicates.expected = answers[wanted.at]?.won === false
  return missed
}

/** Answers those it can, and returns the others. */
function readRound(
  group: readonly Wanted[],
  rows: readonly Row[],
  answers: (Claimed | undefined)[],
): readonly Wanted[] {
  const [head] = rows as [Row]
  const [now, epoch, inserted] = [Number(head[0]), Number(head[1]), Number(head[2])]
  for (const row of rows) {
    if (row[4] === null) continue
    const wanted = group[Number(row[3]) - 1] as Wanted
    const found = receiptOf(row, 5)
    mustBe(found, wanted.draft)
    answers[wanted.at] = { won: false, now, found }
  }
  const open = group.filter(({ at }) => answers[at] === undefined)
  // Which ones were inserted is only told where some were not.
  const named =
    inserted === open.length ? undefined : new Set(((head[WHICH] as string | null) ?? '').split(','))
  return open.filter(({ at, digest, draft }) => {
    if (named && !named.has(digest)) return true
    answers[at] = { won: true, now, epoch: draft.epoch ?? epoch }
    return false
  })
}

/** All parts at once: the part with the locked key, or with what is refused, is split again until that is alone. */
async function split(
  desk: Desk,
  group: readonly Wanted[],
  answers: (Claimed | undefined)[],
): Promise<readonly Wanted[]> {
  const size = Math.ceil(group.length / SPLIT)
  const parts: Wanted[][] = []
  for (let i = 0; i < group.length; i += size) parts.push(group.slice(i, i + size))
  return await allOf(parts.map((part) => claimGroup(desk, part, answers)))
}

/** Rejects like one of them, but only when none is under way any more. */
async function allOf(parts: readonly Promise<readonly Wanted[]>[]): Promise<readonly Wanted[]> {
  await Promise.allSettled(parts)
  return (await Promise.all(parts)).flat()
}

/** A statement writes one note for all; nearly every batch has only one. */
function groupByNote(wanted: readonly Wanted[]): readonly (readonly Wanted[])[] {
  const [{ draft: usual }] = wanted as readonly [Wanted]
  if (wanted.every(({ draft }) => isNotedAs(draft, usual))) return [wanted]
  const groups = new Map<string, Wanted[]>()
  for (const one of wanted) {
    const { event, by, why } = one.draft.audit
    const id = JSON.stringify([event, by, why])
    const group = groups.get(id)
    if (group) group.push(one)
    else groups.set(id, [one])
  }
  return [...groups.values()]
}

function isNotedAs({ audit: a }: Draft, { audit: b }: Draft): boolean {
  return a.event === b.event && a.by === b.by && a.why === b.why
}

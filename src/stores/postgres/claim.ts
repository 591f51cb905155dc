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
import { tooBusy, wasLocked, wasRefused } from './errors.js'
import { draftColumns, draftValues, type Placed } from './columns.js'
import { receiptOf, type Row } from './rows.js'

interface Wanted extends Placed<Draft> {
  readonly at: number
}

const MOST_ROUNDS = 50
const SPLIT = 16
/** Where a row says which of the batch were inserted: behind the receipt. */
const WHICH = 21

export async function claim(desk: Desk, drafts: readonly Draft[]): Promise<readonly Claimed[]> {
  const answers: (Claimed | undefined)[] = drafts.map(() => undefined)
  let waiting: readonly Wanted[] = drafts.map((value, at) => ({ value, at, digest: digestOf(value) }))
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

/** What one claim of an address has found is what the others of the same batch would find. */
function stillOpen(
  asked: readonly Wanted[],
  rest: readonly Wanted[],
  answers: (Claimed | undefined)[],
): readonly Wanted[] {
  if (rest.length === 0) return rest
  const seen = new Map(asked.map(({ digest, at }) => [digest, answers[at]]))
  return rest.filter(({ digest, at, value }) => {
    const answer = seen.get(digest)
    if (answer?.won !== false) return true
    mustBe(answer.found, value)
    answers[at] = answer
    return false
  })
}

async function claimGroup(
  desk: Desk,
  group: readonly Wanted[],
  answers: (Claimed | undefined)[],
): Promise<readonly Wanted[]> {
  let rows: readonly Row[]
  try {
    const [only, second] = group as readonly [Wanted, Wanted?]
    if (second) {
      const { params, varying } = draftColumns(group)
      rows = await send(desk.driver, desk.sql.claim(varying), params)
    } else {
      rows = await send(desk.driver, desk.sql.claimOne, draftValues(only))
    }
  } catch (error) {
    if (group.length === 1 || !(wasLocked(error) || wasRefused(error))) throw error
    return await split(desk, group, answers)
  }
  return readRound(group, rows, answers)
}

/** Answers those it can, and returns the others. */
function readRound(
  group: readonly Wanted[],
  rows: readonly Row[],
  answers: (Claimed | undefined)[],
): readonly Wanted[] {
  const [head] = rows as [Row]
  const [now, epoch, inserted] = [Number(head[0]), Number(head[1]), Number(head[2])]
  const open = new Set(group)
  for (const row of rows) {
    if (row[4] === null) continue
    const wanted = group[Number(row[3]) - 1] as Wanted
    const found = receiptOf(row, 5)
    mustBe(found, wanted.value)
    answers[wanted.at] = { won: false, now, found }
    open.delete(wanted)
  }
  // Which ones were inserted is only told where some were not.
  const named =
    inserted === open.size ? undefined : new Set(((head[WHICH] as string | null) ?? '').split(','))
  for (const wanted of open) {
    if (named && !named.has(wanted.digest)) continue
    answers[wanted.at] = { won: true, now, epoch: wanted.value.epoch ?? epoch }
    open.delete(wanted)
  }
  return [...open]
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

/** The first claim of each address, sorted by digest; the others have to see what came of it. */
function oneEach(waiting: readonly Wanted[]): {
  readonly first: readonly Wanted[]
  readonly rest: readonly Wanted[]
} {
  const first = new Map<string, Wanted>()
  const rest: Wanted[] = []
  for (const wanted of waiting) {
    if (first.has(wanted.digest)) rest.push(wanted)
    else first.set(wanted.digest, wanted)
  }
  return { first: [...first.values()].sort(byDigest), rest }
}

export function byDigest(a: { readonly digest: string }, b: { readonly digest: string }): number {
  return a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0
}

/** A statement writes one note for all; nearly every batch has only one. */
function groupByNote(wanted: readonly Wanted[]): readonly (readonly Wanted[])[] {
  const groups = new Map<string, Wanted[]>()
  for (const one of wanted) {
    const { event, by, why } = one.value.audit
    const id = by === undefined && why === undefined ? event : JSON.stringify([event, by, why])
    const group = groups.get(id)
    if (group) group.push(one)
    else groups.set(id, [one])
  }
  return [...groups.values()]
}

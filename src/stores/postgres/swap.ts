/**
 * Compare-and-swap in batches. Changes of one address within a batch go out one after the other, in their order.
 * A row that is locked by somebody else holds the batch up for `lockTimeoutMs` once; then all the others are done
 * without it, and it is asked for again for as long, without a connection or a lock being held meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Swap, Swapped } from '../../store.js'
import { apart, type Desk, send } from './desk.js'
import { digestOf } from './digest.js'
import { oneEach } from './one-each.js'
import { locked, wasLocked } from './errors.js'
import { keepsClaim, keptColumns, keptValues, type PlacedSwap, swapColumns, swapValues } from './columns.js'
import type { Row } from './rows.js'

interface Change extends PlacedSwap {
  readonly at: number
}

export async function swap(desk: Desk, changes: readonly Swap[]): Promise<readonly Swapped[]> {
  const answers: (Swapped | undefined)[] = changes.map(() => undefined)
  let waiting: readonly Change[] = changes.map(placed)
  while (waiting.length > 0) {
    const { first, rest } = oneEach(waiting)
    await apart(first, async (part) => {
      // Of a turn that was refused half-way, some have their answer.
      if (answers[(part[0] as Change).at] === undefined) await swapTurn(desk, part, answers)
    })
    waiting = rest
  }
  return answers as Swapped[]
}

function placed({ expect, next: draft }: Swap, at: number): Change {
  return { digest: digestOf(draft), draft, expect, at }
}

async function swapTurn(
  desk: Desk,
  turn: readonly Change[],
  answers: (Swapped | undefined)[],
): Promise<void> {
  if (desk.driver.own) {
    try {
      readAnswer(desk, turn, await sendTurn(desk, turn), answers)
      return
    } catch (error) {
      if (!wasLocked(error)) throw error
    }
  }
  const endMs = performance.now() + desk.terms.lockTimeoutMs
  let busy = turn
  for (let pauseMs = 2; ; pauseMs *= 2) {
    const { params, shape } = swapColumns(busy)
    const rows = await send(desk.driver, desk.sql.swapUnlocked(shape), params)
    busy = readAnswer(desk, busy, rows, answers)
    if (busy.length === 0) return
    const leftMs = endMs - performance.now()
    if (leftMs <= 0) throw locked()
    await sleep(Math.min(pauseMs, leftMs))
  }
}

/** What all of them keep of their claims is neither sent nor written. */
async function sendTurn(desk: Desk, turn: readonly Change[]): Promise<readonly Row[]> {
  const { driver, sql } = desk
  const kept = turn.every(keepsClaim)
  if (turn.length === 1) {
    const [only] = turn as readonly [Change]
    if (!kept) return await send(driver, sql.swapOne, swapValues(only))
    const values = keptValues(only)
    const [alone] = await send(driver, sql.settleAlone, values)
    return alone ? [[alone[0], 1]] : await send(driver, sql.swapKeptOne, values)
  }
  const { params, shape } = kept ? keptColumns(turn) : swapColumns(turn)
  return await send(driver, (kept ? sql.swapKept : sql.swap)(shape), params)
}

/** Returns those that could not be had. */
function readAnswer(
  desk: Desk,
  turn: readonly Change[],
  rows: readonly Row[],
  answers: (Swapped | undefined)[],
): readonly Change[] {
  const { now, done, busy, epochs } = readSwapped(rows[0] as Row, turn.length)
  turn.forEach(({ at, draft, expect, digest }, i) => {
    if (busy?.has(i + 1)) return
    if (done && !done.has(i + 1)) {
      answers[at] = { done: false, now }
      return
    }
    answers[at] = { done: true, now, epoch: epochs?.get(i + 1) ?? (draft.epoch as number) }
    if (expect.state === 'pending' && draft.state !== 'pending') desk.hints.settled(digest)
  })
  return busy ? turn.filter((_, i) => busy.has(i + 1)) : []
}

interface Answer {
  readonly now: number
  /** By their place in the batch, from 1. Undefined: all of them. */
  readonly done: ReadonlySet<number> | undefined
  readonly busy: ReadonlySet<number> | undefined
  /** The epochs that the store made. */
  readonly epochs: ReadonlyMap<number, number> | undefined
}

export function readSwapped(row: Row, size: number): Answer {
  const [now, count, which, epochs, busy] = row as readonly (string | null)[]
  return {
    now: Number(now),
    done: Number(count) === size ? undefined : new Set(numbers(which)),
    busy: busy ? new Set(numbers(busy)) : undefined,
    epochs: epochs
      ? new Map(epochs.split(',').map((pair) => numbers(pair, ':') as [number, number]))
      : undefined,
  }
}

function numbers(list: string | null | undefined, separator = ','): number[] {
  return list ? list.split(separator).map(Number) : []
}

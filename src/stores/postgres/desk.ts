/** What every verb works with, and how a statement is sent: again where the server undid it, not otherwise. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Driver, Session } from './driver.js'
import { isReplica, replica, wasRefused, wasUndone } from './errors.js'
import type { Frontier } from './frontier.js'
import type { Hints } from './hints.js'
import type { Terms } from './options.js'
import type { Races } from './races.js'
import type { Row } from './rows.js'
import type { Statement, Statements } from './statements.js'

export interface Desk {
  readonly driver: Driver
  readonly terms: Terms
  readonly sql: Statements
  readonly hints: Hints
  readonly frontier: Frontier
  readonly races: Races
  /** Whether the last claim that went alone found something there. */
  readonly duplicates: { expected: boolean }
}

const TRIES = 10

/** Deadlocks and serialization failures are sent again: nothing of the statement was kept. */
export async function send(
  session: Session,
  statement: Statement,
  params: readonly unknown[],
): Promise<readonly Row[]> {
  for (let tried = 1; ; tried++) {
    try {
      return await session.run(statement, params)
    } catch (error) {
      if (isReplica(error)) throw replica()
      if (!wasUndone(error) || tried >= TRIES) throw error
      await sleep(Math.random() * 2 ** tried)
    }
  }
}

/**
 * Where one row has a value that the server refuses, the others must not suffer for it: each is sent alone, in their
 * order, and only then is the refusal told.
 */
export async function apart<T>(
  rows: readonly T[],
  work: (rows: readonly T[]) => Promise<unknown>,
): Promise<void> {
  try {
    await work(rows)
  } catch (error) {
    if (!wasRefused(error) || rows.length === 1) throw error
    await oneByOne(rows, work)
  }
}

async function oneByOne<T>(
  rows: readonly T[],
  work: (rows: readonly T[]) => Promise<unknown>,
): Promise<void> {
  let refusal: { readonly error: unknown } | undefined
  for (const row of rows) {
    try {
      await work([row])
    } catch (error) {
      if (!wasRefused(error)) throw error
      refusal ??= { error }
    }
  }
  if (refusal) throw refusal.error
}

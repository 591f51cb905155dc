/**
 * The caller's rows and the receipt in one transaction. By default on a connection of the store's; with
 * `options.begin` in a transaction that the caller's own library begins and commits, as long as it can run one
 * statement of ours inside it: pg, Kysely, Drizzle, Prisma or anything else that speaks SQL.
 */
import { transactionEnded } from '../../core/errors.js'
import type { Draft, Receipt } from '../../core/receipt.js'
import { mustNotEnd } from '../../core/transaction-sql.js'
import type { Swap, Swapped } from '../../store.js'
import type { Desk } from './desk.js'
import { digestOf } from './digest.js'
import type { Session } from './driver.js'
import { notCommitted } from './errors.js'
import { get } from './read.js'
import { swapValues } from './columns.js'
import type { Row } from './rows.js'
import { readSwapped } from './swap.js'

/**
 * Where a caller's writes go, until the work has ended. `client` is the library's own: a client of pg, a `sql` of
 * postgres.js, or yours. Work that keeps it has to stop by itself when the attempt's signal aborts.
 */
export interface PostgresTransaction<Client = unknown> {
  query(
    text: string,
    params?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>
  readonly client: Client
}

/** A transaction of another library, as the store needs it: `$1`, `$2` … in the text, rows as objects. */
export interface PostgresExecutor<Client = unknown> {
  query(
    text: string,
    params: readonly unknown[],
  ): Promise<readonly unknown[] | { readonly rows: readonly unknown[] }>
  readonly client: Client
}

/** Begins a transaction (READ COMMITTED), runs `work` in it, commits; rolls back and throws on when `work` throws. */
export type PostgresBegin<Client = unknown> = <T>(
  work: (executor: PostgresExecutor<Client>) => Promise<T>,
) => Promise<T>

type Work<T> = (tx: PostgresTransaction, swap: (change: Swap) => Promise<Swapped>) => Promise<T>

export async function transact<T>(desk: Desk, work: Work<T>): Promise<T> {
  const settled: Draft[] = []
  const { driver, hints, terms } = desk
  const { begin } = terms
  const result = begin
    ? await begin((executor) => during(desk, executor, sessionOf(executor), settled, work))
    : await driver.begin((session) => during(desk, session, session, settled, work))
  if (settled.length > 0 && (begin || !driver.seesCommits)) await mustBeThere(desk, settled)
  for (const draft of settled) hints.settled(digestOf(draft))
  return result
}

/**
 * A commit that is answered with ROLLBACK is no error to most libraries: the receipts say what became of it. One that
 * is gone was settled: nobody forgets a pending one.
 */
async function mustBeThere(desk: Desk, settled: readonly Draft[]): Promise<void> {
  const { receipts } = await get(desk, settled)
  if (!settled.every((draft, i) => isMade(draft, receipts[i]))) throw notCommitted()
}

function isMade({ token, state }: Draft, found: Receipt | undefined): boolean {
  return !found || (found.token === token && found.state === state)
}

/**
 * What comes after the end would be on a connection that is somebody else's by then: it is refused. What the work has
 * asked and not waited for belongs to it: where that fails, the server answers a commit by rolling back, and no
 * library takes that for an error. And it is over before the receipt is settled: a `rollback to savepoint` that came
 * after the swap would undo it, and the rest would be kept. Of work that still asks then nothing is kept.
 */
async function during<T>(
  desk: Desk,
  executor: PostgresExecutor,
  session: Session,
  settled: Draft[],
  work: Work<T>,
): Promise<T> {
  let open = true
  let ended = false
  let late: Error | undefined
  function mustBeOpen(): void {
    if (open) return
    late ??= transactionEnded()
    throw late
  }
  const unanswered = new Set<Promise<unknown>>()
  const swap = swapOn(desk, session, settled)
  try {
    const result = await work(txOf(executor, mustBeOpen, unanswered), async (change) => {
      if (ended) throw transactionEnded()
      open = false
      await Promise.all(unanswered)
      return await swap(change)
    })
    if (late) throw late
    return result
  } finally {
    open = false
    ended = true
  }
}

function txOf(
  executor: PostgresExecutor,
  mustBeOpen: () => void,
  unanswered: Set<Promise<unknown>>,
): PostgresTransaction {
  async function ask(text: string, params: readonly unknown[]): Promise<readonly unknown[]> {
    return rowsOf(await executor.query(text, params))
  }
  return {
    get client() {
      mustBeOpen()
      return executor.client
    },
    async query(text, params = []) {
      mustBeOpen()
      mustNotEnd(text)
      const asked = ask(text, params)
      unanswered.add(asked)
      const rows = await asked.finally(() => unanswered.delete(asked))
      return { rows: rows as readonly Readonly<Record<string, unknown>>[] }
    },
  }
}

/** No second try here: the transaction is the caller's. */
function swapOn(desk: Desk, session: Session, settled: Draft[]): (change: Swap) => Promise<Swapped> {
  return async ({ expect, next: draft }) => {
    const digest = digestOf(draft)
    const rows = await session.run(desk.sql.swapOne, swapValues({ digest, draft, expect }))
    const { now, done, epochs } = readSwapped(rows[0] as Row, 1)
    if (done) return { done: false, now }
    if (draft.state !== 'pending') settled.push(draft)
    return { done: true, now, epoch: epochs?.get(1) ?? (draft.epoch as number) }
  }
}

/** The columns of `swap` by name, where rows come as objects. */
function sessionOf(executor: PostgresExecutor): Session {
  return {
    async run({ text }, params) {
      const rows = rowsOf(await executor.query(text, params)) as readonly Readonly<Record<string, unknown>>[]
      return rows.map((row) => [row['now'], row['done'], row['which'], row['epochs'], row['busy']])
    },
  }
}

function rowsOf(answer: readonly unknown[] | { readonly rows: readonly unknown[] }): readonly unknown[] {
  return 'rows' in answer ? answer.rows : answer
}

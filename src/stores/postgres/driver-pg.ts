/**
 * The driver for `pg`: over a pool that is given, or over pools of our own. A connection whose answer did not come
 * is thrown away, never used again: what comes back on it later would be somebody else's answer.
 */
import { asBinary } from './arrays.js'
import type { Driver, Session, TransactionSession } from './driver.js'
import {
  brokeConnection,
  notCommitted,
  notConnected,
  notReplicated,
  wasLeftBehind,
  wasNotReplicated,
} from './errors.js'
import { listenOn } from './listen.js'
import type { Row } from './rows.js'
import type { PgClient, PgPool, PgQuery, PgResult } from './shapes.js'
import type { Statement } from './statements.js'

function ignore(): void {}

const heard = new WeakSet<PgClient>()

/**
 * A connection can break at any moment, also while nobody asks it anything: right after it was made, before whoever
 * asked for it has it. Without a listener that would end the program. Nothing is lost by not listening to
 * what it says: the next question fails.
 */
function hear(client: PgClient): void {
  if (heard.has(client)) return
  heard.add(client)
  client.on('error', ignore)
}

export function hearBroken(pool: PgPool): void {
  pool.on('error', ignore)
  pool.on('acquire', hear)
}

/** The one warning that a statement of the store can get: its commit was kept from waiting for the standby. */
const WARNING = '01000'

/** Migrations may wait for each other. */
const SCRIPT_MS = 32_000

export interface PgSource {
  readonly own: boolean
  /** How long the client waits for an answer to a statement of the store. */
  readonly answerMs: number
  /** A connection for the store's statements, and one for a caller's transaction. */
  work(): Promise<PgClient>
  transaction(): Promise<PgClient>
  /** One that is kept for as long as somebody listens; undefined where that would leave too few. */
  readonly listening: (() => Promise<PgClient>) | undefined
  /** Told of every failure, so that it can look for another server. */
  failed(error: unknown): void
  end(): Promise<void>
}

export function foreignPool(pool: PgPool, answerMs: number, connectMs: number): PgSource {
  hearBroken(pool)
  const connect = async (): Promise<PgClient> =>
    pool.options?.connectionTimeoutMillis ? await pool.connect() : await connectWithin(pool, connectMs)
  return {
    own: false,
    answerMs,
    work: connect,
    transaction: connect,
    // Of a pool of one, whoever listens would leave none for anything else.
    listening: pool.options?.max === 1 ? undefined : connect,
    failed: ignore,
    async end() {
      pool.removeListener('error', ignore)
      pool.removeListener('acquire', hear)
    },
  }
}

/** A pool that was given no limit waits as long as its server hangs. A connection that comes later goes back. */
async function connectWithin(pool: PgPool, ms: number): Promise<PgClient> {
  const asked = pool.connect()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      asked.then((client) => client.release()).catch(ignore)
      reject(notConnected(ms))
    }, ms)
  })
  return await Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/** Writes a few bytes to the server's log, and nothing to a table: its commit waits for the standby as any does. */
const BARRIER: Statement = { name: '', text: `select pg_logical_emit_message(true, 'ibid', '')` }

export function pgDriver(source: PgSource): Driver {
  // What was kept from waiting can be read. Before anything is believed that is read, a commit must have waited.
  let unreplicated = 0

  async function catchUp(session: Session): Promise<void> {
    const known = unreplicated
    await session.run(BARRIER, [])
    if (known === unreplicated) unreplicated = 0
  }

  async function using<T>(
    client: PgClient,
    work: (session: Session, broke: (error: unknown) => void) => Promise<T>,
  ): Promise<T> {
    let broken: unknown
    // A connection that breaks while it is out says so as an event, and to whoever waits for an answer.
    const onError = (error: unknown): void => {
      broken ??= error
    }
    client.on('error', onError)
    try {
      return await work(sessionOf(client, source.answerMs), onError)
    } catch (error) {
      if (brokeConnection(error)) broken ??= error
      if (wasNotReplicated(error)) unreplicated++
      source.failed(error)
      throw error
    } finally {
      client.removeListener('error', onError)
      client.release(broken === undefined ? undefined : true)
    }
  }

  return {
    own: source.own,
    seesCommits: true,
    async run(statement, params) {
      return await using(await source.work(), async (session) => {
        if (unreplicated > 0) await catchUp(session)
        return await session.run(statement, params)
      })
    },
    async script(text) {
      const client = await source.work()
      await using(client, async () => await client.query({ text, query_timeout: SCRIPT_MS }))
    },
    async begin(work) {
      const client = await source.transaction()
      return await using(
        client,
        async (session, broke) => await inTransaction(client, session, source.answerMs, broke, work),
      )
    },
    listen: (channel, hear) => source.listening && listenOn(source, source.listening, channel, hear),
    close: async () => await source.end(),
  }
}

function sessionOf(client: PgClient, answerMs: number): Session {
  return {
    async run({ name, text }: Statement, params) {
      const values = params.map(asBinary)
      const asked = { name, text, values, rowMode: 'array', query_timeout: answerMs } as const
      return (await committing(client, asked)).rows as readonly Row[]
    },
  }
}

/** For whatever commits: refused where that was kept from waiting for the standby. */
async function committing(client: PgClient, asked: PgQuery): Promise<PgResult> {
  let warned = false
  const onNotice = ({ code }: { readonly code?: string }): void => {
    warned ||= code === WARNING
  }
  client.on('notice', onNotice)
  try {
    const result = await client.query(asked)
    if (warned) throw notReplicated()
    return result
  } finally {
    client.removeListener('notice', onNotice)
  }
}

async function inTransaction<T>(
  client: PgClient,
  session: Session,
  answerMs: number,
  broke: (error: unknown) => void,
  work: (session: TransactionSession) => Promise<T>,
): Promise<T> {
  await client.query({ text: 'begin isolation level read committed', query_timeout: answerMs })
  let handedOut = false
  let unanswered = 0
  let result: T
  try {
    result = await work({
      get client() {
        handedOut = true
        return client
      },
      run: session.run,
      async query(text, params) {
        unanswered++
        // In this mode a text is one statement, or it is refused: no second one can end the transaction.
        const asked = client.query({ text, values: [...params], queryMode: 'extended' })
        const { rows } = await asked.finally(() => unanswered--)
        return rows as readonly Record<string, unknown>[]
      },
    })
  } catch (error) {
    // Work that fails may have left something running that has the client in hand, and what that asks next must not
    // come after a rollback, outside of any transaction. The connection is closed instead, which rolls back too.
    // Where a rollback fails, the server makes one by itself; what the work said is what its caller is told.
    if (handedOut || unanswered > 0 || wasLeftBehind(error)) broke(error ?? new Error('the work failed'))
    else await client.query({ text: 'rollback', query_timeout: answerMs }).catch(broke)
    throw error
  }
  const { command } = await committing(client, { text: 'commit', query_timeout: answerMs })
  if (command === 'ROLLBACK') throw notCommitted()
  return result
}

/**
 * Pools of our own, from a URL or a configuration: one for the store's statements, one for callers' transactions.
 * A URL can name several servers, `postgres://user@host1,host2/database`: the one that takes writes is used, and
 * when it is gone the next is asked, so that an application follows a failover by itself.
 */
import { hearBroken, type PgSource } from './driver-pg.js'
import { invalidConnection, isReplica, noClientLibrary, replica, sqlState } from './errors.js'
import type { Terms } from './options.js'
import { mustTurnOn, transactionSession, workSession } from './session.js'
import type { PgClient, PgPool, PgPoolConfig, PgResult } from './shapes.js'

type PoolClass = new (config: Readonly<Record<string, unknown>>) => PgPool

const LISTENING = 1

interface Server {
  readonly work: PgPool
  readonly transactions: PgPool
}

export function ownPools(connection: string | PgPoolConfig, terms: Terms, answerMs: number): PgSource {
  const configs = typeof connection === 'string' ? serversOf(connection) : [connection]
  const servers = new Map<number, Promise<Server>>()
  let current = 0
  let ended = false

  async function openServer(config: PgPoolConfig): Promise<Server> {
    const Pool = await loadPool()
    const max = config.max ?? terms.maxConnections
    const open = (setup: string, connections: number): PgPool => {
      const pool = new Pool({
        application_name: 'ibid',
        keepAlive: true,
        connectionTimeoutMillis: terms.connectTimeoutMs,
        allowExitOnIdle: true,
        ...config,
        max: connections,
        verify: (client: PgClient, answer: (error?: Error) => void) => {
          void prepare(client, setup, terms, answerMs).then((error) => answer(error))
        },
      })
      hearBroken(pool)
      return pool
    }
    // One more than callers may have: it listens, for as long as the store is open.
    return {
      work: open(workSession(terms), max),
      transactions: open(transactionSession(terms), max + LISTENING),
    }
  }

  async function server(at: number): Promise<Server> {
    const opened = servers.get(at) ?? openServer(configs[at] as PgPoolConfig)
    servers.set(at, opened)
    return await opened
  }

  /** Asks the servers one after the other, beginning with the one that answered last. */
  async function connect(pool: keyof Server): Promise<PgClient> {
    for (let tried = 1; ; tried++) {
      const at = current
      try {
        return await (await server(at))[pool].connect()
      } catch (error) {
        if (ended || tried >= configs.length) throw error
        if (current === at) current = (at + 1) % configs.length
      }
    }
  }

  return {
    own: true,
    answerMs,
    work: async () => await connect('work'),
    transaction: async () => await connect('transactions'),
    listening: async () => await connect('transactions'),
    failed(error) {
      // A server that says it is read-only has become a replica: its other connections are of no use either.
      if (isReplica(error) || sqlState(error) === '57P03') current = (current + 1) % configs.length
    },
    async end() {
      ended = true
      const opened = await Promise.all(servers.values())
      await Promise.all(opened.flatMap(({ work, transactions }) => [work.end(), transactions.end()]))
    },
  }
}

/** What speaks against using this connection. */
async function prepare(
  client: PgClient,
  setup: string,
  terms: Terms,
  answerMs: number,
): Promise<Error | undefined> {
  try {
    // One answer per statement, the last of which is a question.
    const answers = (await client.query({ text: setup, query_timeout: answerMs })) as unknown as PgResult[]
    const facts = answers.at(-1)?.rows[0] as
      | { readonly replica: boolean; readonly durable: string }
      | undefined
    if (facts?.replica !== false) return replica()
    if (mustTurnOn(facts.durable, terms)) {
      await client.query({ text: 'set synchronous_commit = on', query_timeout: answerMs })
    }
  } catch (error) {
    return error as Error
  }
}

async function loadPool(): Promise<PoolClass> {
  try {
    const { default: pg } = await import('pg')
    return pg.Pool as unknown as PoolClass
  } catch (error) {
    throw noClientLibrary(error)
  }
}

const SERVERS = /^(?<before>postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)(?<hosts>[^@/?#]*)(?<after>.*)$/s

/** One URL per server. What is wrong with a URL is said without showing it: it may hold a password. */
function serversOf(url: string): readonly PgPoolConfig[] {
  const parts = SERVERS.exec(url)?.groups
  if (!parts) throw invalidConnection('the connection is not a postgres:// URL')
  const { before, hosts = '', after } = parts
  return hosts.split(',').map((host) => {
    const connectionString = `${before}${host}${after}`
    if (host !== '' && !URL.canParse(connectionString))
      throw invalidConnection('the postgres:// URL cannot be read')
    return { connectionString }
  })
}

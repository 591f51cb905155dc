/**
 * Receipts in Redis or Valkey, on one server or a cluster. One script per batch and shard does all of a verb, with
 * the server's own time: see scripts.ts. What Redis does not promise, `check` says: losing writes at a crash
 * (appendfsync), at a failover (replicas), under memory pressure (eviction).
 */
import { onlyKnown } from '../../core/known.js'
import type { ConnectionOptions } from 'node:tls'
import type { Store } from '../../store.js'
import { cut, runCuts } from './batches.js'
import { check, type RedisRisk } from './check.js'
import { claim } from './claim.js'
import { decodeReceipt } from './codec.js'
import { connect, type ConnectOptions, readUrl } from './connect.js'
import { type Driver, driverOf, type RedisConnection } from './driver.js'
import { invalidStore } from './faults.js'
import { MOST_SHARDS, type Shard } from './layout.js'
import { audit, record } from './log.js'
import { forget, purge } from './purge.js'
import { scan } from './scan.js'
import { GET } from './scripts.js'
import { createSession } from './session.js'
import { swap } from './swap.js'
import { createWatch } from './watch.js'

export type { RedisRisk } from './check.js'
export type { RedisConnection } from './driver.js'

export interface RedisStoreOptions {
  /** What all keys start with. Default 'ibid'. */
  readonly prefix?: string
  /** Hash tags over which receipts are spread. Default 1, in a cluster 64; fixed when the first receipt is written. */
  readonly shards?: number
  /** How long a server may take to answer before the call is given up. Default 5000. */
  readonly timeoutMs?: number
  /** Every write waits until so many replicas have it, and is rejected when they do not in time. */
  readonly wait?: { readonly replicas: number; readonly timeoutMs: number }
  /** Risks that `check` would refuse, accepted by name. */
  readonly accept?: readonly RedisRisk[]
  /** False: no audit log is kept in Redis, which saves about a third of the memory. Default true. */
  readonly audit?: boolean
  /** For a URL: given to the client as it is. */
  readonly tls?: ConnectionOptions
}

const KNOWN = [
  'prefix',
  'shards',
  'timeoutMs',
  'wait',
  'accept',
  'audit',
  'tls',
] satisfies (keyof RedisStoreOptions)[]
/** Of a few hundred callers there are three batches: one at the server, one on its way, one at work here. */
const MAX_BATCH = 86
const LANES = 4
/** A call is given up before its connection is, and says so itself. */
const GRACE_MS = 100

export function redisStore(connection: RedisConnection, options: RedisStoreOptions = {}): Store {
  const { prefix, shards, timeoutMs, wait, accept, withAudit } = readOptions(options)
  const silentMs = timeoutMs + (wait?.timeoutMs ?? 0) + GRACE_MS
  const session = createSession(opener(connection, { timeoutMs, silentMs, tls: options.tls }), {
    prefix,
    shards,
    timeoutMs,
    wait,
  })
  const watch = createWatch(session)

  return {
    name: 'redis',
    maxBatch: MAX_BATCH,
    lanes: LANES,
    maxOutcome: 1_000_000,

    claim: (wanted) => claim(session, watch, wanted),
    swap: (changes) => swap(session, changes),

    async get(addresses) {
      const { layout } = await session.ready()
      if (addresses.length === 0) {
        const [now] = await session.run(GET, [(layout.shards[0] as Shard).journal], [])
        return { now: Number(now), receipts: [] }
      }
      // Where several servers answer, the earliest of their times: nothing has ended before it has.
      let earliest = Number.POSITIVE_INFINITY
      const cuts = cut(
        layout,
        addresses,
        (address) => address,
        () => 0,
      )
      const receipts = await runCuts(cuts, async ({ shard, keys }) => {
        const [now, ...texts] = await session.run(GET, [shard.journal, ...keys], [])
        earliest = Math.min(earliest, Number(now))
        return texts.map((text) => (text === null ? undefined : decodeReceipt(String(text))))
      })
      return { now: earliest, receipts }
    },

    scan: (query) => scan(session, query),
    purge: (limit, auditMs) => purge(session, limit, withAudit ? auditMs : 0),
    async record(events) {
      await session.ready()
      if (withAudit) await record(session, events)
    },
    forget: (claims) => forget(session, claims),
    audit: (query) => audit(session, query),
    check: () => check(session, accept),
    async close() {
      watch.close()
      await session.close()
    },
    watch: (listener) => watch.add(listener),
  }
}

function opener(
  connection: RedisConnection,
  options: Omit<ConnectOptions, 'signal'>,
): (signal: AbortSignal) => Promise<Driver> {
  if (typeof connection === 'string') {
    const url = readUrl(connection)
    return (signal) => connect(url, { ...options, signal })
  }
  const driver = driverOf(connection)
  return async () => driver
}

function readOptions(options: RedisStoreOptions) {
  onlyKnown(options, KNOWN, 'redisStore')
  const { prefix = 'ibid', shards, timeoutMs = 5_000, wait, accept = [], audit: withAudit = true } = options
  if (!/^[\w.:-]{1,100}$/.test(prefix)) {
    throw invalidStore(
      'prefix is not a name of 1 to 100 letters, digits, dots, colons and dashes',
      "give one like 'ibid'",
    )
  }
  if (shards !== undefined && !isWhole(shards, 1, MOST_SHARDS)) {
    throw invalidStore(`shards is ${String(shards)}`, `give shards a whole number from 1 to ${MOST_SHARDS}`)
  }
  if (!isWhole(timeoutMs, 1, 600_000)) {
    throw invalidStore(`timeoutMs is ${String(timeoutMs)}`, 'give timeoutMs a whole number from 1 to 600000')
  }
  if (wait && !(isWhole(wait.replicas, 1, 100) && isWhole(wait.timeoutMs, 1, 600_000))) {
    throw invalidStore(
      'wait does not say for how many replicas and how long',
      'give { replicas: 1, timeoutMs: 1000 }',
    )
  }
  return { prefix, shards, timeoutMs, wait, accept, withAudit }
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most
}

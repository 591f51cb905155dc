/**
 * Is this server set up so that the promises hold? Reads INFO, which managed services allow, and the one setting
 * that is only in CONFIG. A risk is refused unless it was accepted by name; then it is still told, as a warning.
 */
import type { StoreFinding, StoreReport } from '../../store.js'
import { isRefusal } from './faults.js'
import type { Session } from './session.js'

/** What somebody may knowingly live with. */
export type RedisRisk = 'eviction' | 'no-aof' | 'async-replica' | 'unverified'

type Facts = Readonly<Record<string, string>>

export async function check(session: Session, accept: readonly RedisRisk[]): Promise<StoreReport> {
  const { driver, layout } = await session.ready()
  const infos = await infoOfMasters(session)
  const fsyncs = await fsyncOfMasters(session)
  const hasWait = session.options.wait !== undefined
  const findings = infos
    .flatMap((info, i) => [
      ...evictionFindings(info),
      ...persistenceFindings(info, fsyncs[i]),
      ...replicationFindings(info, hasWait),
    ])
    .map(({ risk, ...finding }) => accepted(finding, risk, accept))
  const [first = {}] = infos
  return {
    store: 'redis',
    findings: unique(infos.length === 0 ? [accepted(UNVERIFIED, 'unverified', accept)] : findings),
    facts: {
      server: first['valkey_version']
        ? `Valkey ${first['valkey_version']}`
        : `Redis ${first['redis_version'] ?? 'unknown'}`,
      client: driver.client,
      cluster: driver.isCluster,
      masters: infos.length,
      shards: layout.shards.length,
      appendonly: first['aof_enabled'] === '1',
      appendfsync: fsyncs[0] ?? 'unknown',
      maxmemoryPolicy: first['maxmemory_policy'] ?? 'unknown',
      replicas: infos.reduce((sum, info) => sum + Number(info['connected_slaves'] ?? 0), 0),
      receiptsAbout: await countOf(session),
      usedMemoryBytes: infos.reduce((sum, info) => sum + Number(info['used_memory'] ?? 0), 0),
    },
  }
}

/** As far as they are in the indexes, which follow within a minute or so. */
async function countOf(session: Session): Promise<number> {
  const { layout } = await session.ready()
  const counts = await Promise.all(layout.shards.map(({ all }) => session.command(all, 'ZCARD', all)))
  return counts.reduce<number>((sum, count) => sum + Number(count), 0)
}

interface Risky extends StoreFinding {
  readonly risk?: RedisRisk
}

function evictionFindings(info: Facts): readonly Risky[] {
  const policy = info['maxmemory_policy']
  if (policy === undefined || policy === 'noeviction') return []
  return [
    {
      level: 'error',
      risk: 'eviction',
      code: 'EVICTION',
      message: `maxmemory-policy is ${policy}: under memory pressure the server deletes receipts without a word, and what they guarded runs again`,
      remedy: 'CONFIG SET maxmemory-policy noeviction, or a server of its own for ibid',
    },
  ]
}

function persistenceFindings(info: Facts, fsync: string | undefined): readonly Risky[] {
  if (info['aof_enabled'] !== '1') {
    return [
      {
        level: 'error',
        risk: 'no-aof',
        code: 'NO_AOF',
        message:
          'appendonly is off: a restart loses every claim and settlement since the last snapshot, and what they guarded runs again',
        remedy: 'CONFIG SET appendonly yes, and the same in redis.conf',
      },
    ]
  }
  if (fsync === 'always') return []
  return [{ level: 'warning', ...FSYNC[fsync === 'everysec' || fsync === 'no' ? fsync : 'unreadable'] }]
}

const FSYNC = {
  everysec: {
    code: 'FSYNC_EVERYSEC',
    message:
      'appendfsync is everysec: when the machine goes down, claims and settlements of the last second are lost, of the last two when the disk is slow; a crash of the Redis process alone loses something only in that second case',
    remedy: 'CONFIG SET appendfsync always, where that must not happen',
  },
  no: {
    code: 'FSYNC_NO',
    message:
      'appendfsync is no: when the machine goes down, whatever the operating system had not yet written is lost, typically up to 30 seconds',
    remedy: 'CONFIG SET appendfsync always, or everysec for at most two seconds of loss',
  },
  unreadable: {
    code: 'FSYNC_UNREADABLE',
    message:
      'this server does not let its configuration be read (CONFIG GET is refused), so whether appendfsync is always is not known',
    remedy: 'look it up where the server is managed; assume a loss of two seconds otherwise',
  },
} as const

function replicationFindings(info: Facts, hasWait: boolean): readonly Risky[] {
  if (info['role'] === 'slave') {
    return [
      {
        level: 'error',
        code: 'REPLICA',
        message: 'this server is a replica: it takes no claims, and what it reads may be old',
        remedy: 'connect to the primary, or through Sentinel or Cluster',
      },
    ]
  }
  if (Number(info['connected_slaves'] ?? 0) === 0) return []
  if (hasWait) {
    return [
      {
        level: 'warning',
        code: 'WAIT_IS_NO_CONSENSUS',
        message:
          'every write waits until replicas have it, but which replica is promoted is decided elsewhere: one that had not acknowledged can still win, and then claims are lost',
        remedy:
          'wait for all replicas that can be promoted, and set min-replicas-to-write to the same number',
      },
    ]
  }
  return [
    {
      level: 'error',
      risk: 'async-replica',
      code: 'ASYNC_REPLICA',
      message:
        'replicas follow asynchronously: a failover loses acknowledged claims that had not reached the one that is promoted, and what they guarded runs again',
      remedy: 'redisStore(connection, { wait: { replicas: 1, timeoutMs: 1000 } })',
    },
  ]
}

const UNVERIFIED: StoreFinding = {
  level: 'error',
  code: 'UNVERIFIED',
  message:
    'this server does not let its state be read (INFO is refused), so nothing is known of eviction, AOF and replicas',
  remedy: 'allow the INFO command to this user',
}

function accepted(
  finding: StoreFinding,
  risk: RedisRisk | undefined,
  accept: readonly RedisRisk[],
): StoreFinding {
  if (finding.level !== 'error' || risk === undefined) return finding
  if (accept.includes(risk)) return { ...finding, level: 'warning' }
  return {
    ...finding,
    remedy: `${finding.remedy}; or accept it by name: redisStore(connection, { accept: ['${risk}'] })`,
  }
}

async function infoOfMasters(session: Session): Promise<readonly Facts[]> {
  const texts = await session.onAll('INFO').catch(refused)
  return texts.map((text) =>
    Object.fromEntries(
      [...String(text).matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [
        name as string,
        value as string,
      ]),
    ),
  )
}

async function fsyncOfMasters(session: Session): Promise<readonly (string | undefined)[]> {
  const replies = await session.onAll('CONFIG', 'GET', 'appendfsync').catch(refused)
  return replies.map(valueOf)
}

function refused(error: unknown): readonly unknown[] {
  if (isRefusal(error)) return []
  throw error
}

/** The old protocol answers with a list of two, the new one with a map. */
function valueOf(reply: unknown): string | undefined {
  if (Array.isArray(reply)) return reply[1] === undefined ? undefined : String(reply[1])
  if (reply instanceof Map) return reply.get('appendfsync') as string | undefined
  return (reply as Record<string, string> | null)?.['appendfsync']
}

function unique(findings: readonly StoreFinding[]): readonly StoreFinding[] {
  return [...new Map(findings.map((finding) => [`${finding.code} ${finding.message}`, finding])).values()]
}

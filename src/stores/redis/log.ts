/**
 * The audit log: a stream per shard, read as one, forwards or backwards. A cursor holds the last entry that was read of
 * each shard and how many of its events stand before the place, so a reader who follows misses nothing; events of
 * several shards are put in order by the microseconds they carry.
 */
import type { AuditEvent } from '../../core/audit.js'
import { noCursor } from '../../core/cursor.js'
import type { AuditPage, AuditQuery } from '../../store.js'
import { cut } from './batches.js'
import { decodeEvents, type Entry, eventArgs, type Logged } from './codec.js'
import { digestOf, type Shard } from './layout.js'
import { RECORD } from './scripts.js'
import type { Session } from './session.js'

/** Entries read at once; each holds the events of a batch. */
const CHUNK = 50

export async function record(session: Session, events: readonly AuditEvent[]): Promise<void> {
  const { layout } = await session.ready()
  const cuts = cut(
    layout,
    events,
    (event) => event,
    () => 0,
  )
  await Promise.all(
    cuts.map(async ({ shard, items }) => {
      await session.write(RECORD, [shard.journal], eventArgs(items))
    }),
  )
}

export async function audit(session: Session, query: AuditQuery): Promise<AuditPage> {
  const { layout } = await session.ready()
  const { tenant, scope, key, limit } = query
  const last = readCursor(query.cursor, layout.shards.length)
  const home =
    tenant !== undefined && scope !== undefined && key !== undefined
      ? [layout.shardOf(digestOf({ tenant, scope, key }))]
      : layout.shards
  const readers = home.map((shard) => createReader(session, shard, last[shard.number] as string, query))
  const events: AuditEvent[] = []
  while (events.length < limit) {
    const empty = readers.filter((reader) => reader.isEmpty())
    if (empty.length > 0) await Promise.all(empty.map((reader) => reader.fill()))
    const [next] = readers.filter((reader) => reader.head()).toSorted(query.newestFirst ? byYouth : byAge)
    if (!next) break
    events.push((next.take() as Logged).event)
  }
  for (const reader of readers) last[reader.shard.number] = reader.last()
  const isOver = query.newestFirst && readers.every((reader) => !reader.isEmpty() && !reader.head())
  const cursor = last.every((id) => id === '') ? query.cursor : last.join(',')
  return { events, cursor: isOver ? undefined : cursor }
}

function byAge(a: Reader, b: Reader): number {
  return (a.head()?.us ?? 0) - (b.head()?.us ?? 0) || a.shard.number - b.shard.number
}

function byYouth(a: Reader, b: Reader): number {
  return byAge(b, a)
}

type Found = readonly [id: string, fields: Entry]

interface Reader {
  readonly shard: Shard
  /** It may have more, but has to read it first. */
  isEmpty(): boolean
  fill(): Promise<void>
  /** The next event that fits the query. */
  head(): Logged | undefined
  take(): Logged | undefined
  /** The last event that was read: taken, or passed over because it does not fit. */
  last(): string
}

function createReader(session: Session, shard: Shard, after: string, query: AuditQuery): Reader {
  let passed = after
  let ahead: (Logged & { readonly place: string })[] = []
  let next = 0
  let isAtEnd = false

  /** An entry is never older than the events in it, whatever the clock did. */
  const oldest = query.since === undefined ? '-' : String(Math.max(0, Math.floor(query.since)))

  async function readOn(): Promise<void> {
    const [id = '', taken = '0'] = passed.split(':')
    const range = query.newestFirst ? [id || '+', oldest] : [id || oldest, '+']
    const entries = (await session.command(
      shard.journal,
      query.newestFirst ? 'XREVRANGE' : 'XRANGE',
      shard.journal,
      ...range,
      'COUNT',
      String(CHUNK),
    )) as readonly Found[]
    isAtEnd = entries.length < CHUNK
    for (const [entry, fields] of entries) {
      const logged = [...decodeEvents(fields).entries()]
      for (const [i, one] of query.newestFirst ? logged.toReversed() : logged) {
        const isPassed = query.newestFirst ? i >= Number(taken) : i < Number(taken)
        if (entry === id && isPassed) continue
        const place = `${entry}:${query.newestFirst ? i : i + 1}`
        if (isAbout(one.event, query)) ahead.push({ ...one, place })
        else if (ahead.length === 0) passed = place
      }
    }
  }

  return {
    shard,
    isEmpty: () => next === ahead.length && !isAtEnd,
    async fill() {
      next = 0
      ahead = []
      while (ahead.length === 0 && !isAtEnd) await readOn()
    },
    head: () => ahead[next],
    take() {
      const taken = ahead[next++]
      passed = taken?.place ?? passed
      return taken
    },
    last: () => passed,
  }
}

function isAbout(event: AuditEvent, { tenant, scope, key, since }: AuditQuery): boolean {
  return (
    (since === undefined || event.at >= since) &&
    (tenant === undefined || event.tenant === tenant) &&
    (scope === undefined || event.scope === scope) &&
    (key === undefined || event.key === key)
  )
}

function readCursor(text: string | undefined, shards: number): string[] {
  const ids = text === undefined ? Array.from({ length: shards }, () => '') : text.split(',')
  if (ids.length === shards && ids.every((id) => /^(\d+-\d+:\d+)?$/.test(id))) return ids
  throw noCursor()
}

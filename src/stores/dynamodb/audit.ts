/**
 * audit: the log in order. Events of one address are read from its partition, consistently; all others from the log
 * index. Writers stamp before they write, so an event can appear in front of others that a reader has seen already.
 * A cursor therefore stays behind by what a write can take, and names what was given beyond it: nothing is missed,
 * and nothing is given twice.
 */
import type { AuditEvent } from '../../core/audit.js'
import type { AuditPage, AuditQuery } from '../../store.js'
import { leaseMarginMs } from './clock.js'
import type { Connection } from './connection.js'
import { readCursor, writeCursor } from './cursor.js'
import { idOf, timePlace, toEvent } from './event.js'
import { type Bounds, type Stretch, stretchOfAddress, stretchOfAll } from './log.js'
import { text } from './receipt.js'

interface Position {
  /** Everything up to here was given. */
  readonly after: string
  /** What was given beyond it. */
  readonly given: readonly string[]
}

/** What the log index may be behind the table. */
const INDEX_LAG_MS = 5_000
/** A cursor names no more than this many: past it, a reader waits until the log has settled. */
const MOST_GIVEN = 1_000
/** Stretches that are read for one page, where most events are about something else. */
const MOST_STRETCHES = 64
const LEAST_READ = 128
/** Behind every place there is. */
const NEWEST = '~'

export async function audit(connection: Connection, query: AuditQuery): Promise<AuditPage> {
  return query.newestFirst ? await lookBack(connection, query) : await goOn(connection, query)
}

async function goOn(connection: Connection, query: AuditQuery): Promise<AuditPage> {
  const first = query.since === undefined ? '' : timePlace(query.since)
  const start = readCursor<Position>(query.cursor, isPosition, { after: first, given: [] })
  const settled = timePlace(connection.now() - settlesInMs(connection))
  /** Given by an earlier page, and not met again in this one. */
  const unmet = new Set(start.given)
  /** Given, by this page or an earlier one, at a place that can still be written in front of. */
  const recent: { readonly place: string; readonly id: string }[] = []
  const events: AuditEvent[] = []
  let last = start.after
  for (let read = 0; read < MOST_STRETCHES; read++) {
    const stretch = await stretchOf(connection, query, { after: last })
    for (const item of stretch.items) {
      const place = text(item, 'place')
      const id = idOf(place)
      const wasGiven = unmet.delete(id)
      const event = wasGiven ? undefined : toEvent(item)
      if (event && isAbout(event, query)) {
        const crowded = place > settled && recent.length + unmet.size >= MOST_GIVEN
        if (events.length >= query.limit || crowded) return page()
        events.push(event)
      }
      if (place > settled && (wasGiven || (event && isAbout(event, query)))) recent.push({ place, id })
      last = place
    }
    if (!stretch.more) break
  }
  return page()

  function page(): AuditPage {
    const reached = last < settled ? last : settled
    const after = reached > start.after ? reached : start.after
    const given = [...unmet, ...recent.filter(({ place }) => place > after).map(({ id }) => id)]
    return { events, cursor: writeCursor({ after, given } satisfies Position) }
  }
}

/** Whoever looks back does not follow: an event that turns up late is seen if it is older than what was read so far. */
async function lookBack(connection: Connection, query: AuditQuery): Promise<AuditPage> {
  let { before } = readCursor<{ before: string }>(query.cursor, isPlace, { before: NEWEST })
  const since = query.since === undefined ? '' : timePlace(query.since)
  const events: AuditEvent[] = []
  for (let read = 0; read < MOST_STRETCHES; read++) {
    const stretch = await stretchOf(connection, query, { before, back: true })
    for (const item of stretch.items) {
      if (text(item, 'place') < since) return { events, cursor: undefined }
      const event = toEvent(item)
      if (isAbout(event, query)) {
        if (events.length >= query.limit) return { events, cursor: writeCursor({ before }) }
        events.push(event)
      }
      before = text(item, 'place')
    }
    if (!stretch.more) return { events, cursor: undefined }
  }
  return { events, cursor: writeCursor({ before }) }
}

function isPlace({ before }: Record<string, unknown>): boolean {
  return typeof before === 'string'
}

function isPosition({ after, given }: Record<string, unknown>): boolean {
  return typeof after === 'string' && Array.isArray(given)
}

/** How long after its time an event may still appear. */
function settlesInMs({ timeoutMs, maxSkewMs }: Connection): number {
  return timeoutMs + leaseMarginMs(maxSkewMs) + INDEX_LAG_MS
}

async function stretchOf(connection: Connection, query: AuditQuery, bounds: Bounds): Promise<Stretch> {
  const { tenant, scope, key } = query
  const wanted = Math.max(query.limit, LEAST_READ)
  if (tenant === undefined || scope === undefined || key === undefined) {
    return await stretchOfAll(connection, bounds, wanted)
  }
  return await stretchOfAddress(connection, { tenant, scope, key }, bounds, wanted)
}

function isAbout(event: AuditEvent, { tenant, scope, key, since }: AuditQuery): boolean {
  return (
    (since === undefined || event.at >= since) &&
    (tenant === undefined || event.tenant === tenant) &&
    (scope === undefined || event.scope === scope) &&
    (key === undefined || event.key === key)
  )
}

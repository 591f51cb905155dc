/**
 * Reading and shortening the audit log. A row is one event, or several that came of one statement: what they have in
 * common in the columns of a single event, the rest in arrays. Ids of rows are so far apart that each event of a row
 * has one of its own, counted from the row's.
 */
import { ROOM } from './schema.js'
import { CLOCK } from './sent.js'

/** In the order of `eventOf` in rows.ts. */
const COLUMNS =
  'id::float8, tenant, scope, key, event, "by", why, at::float8, state, epoch::float8, attempt, fingerprint, count'

const EACH = ['epoch', 'attempt', 'tenant', 'scope', 'key', 'fingerprint']

/** The events of the row `a`: none where it is a single one. */
const EVENTS = `unnest(${EACH.map((name) => `a.${name}s`).join(', ')}) with ordinality as e (${EACH.join(', ')}, ord)`

/** Of an event of a row of several. */
const ID = 'a.id + a.dropped + e.ord - 1'
const SHARED = 'a.event, a."by", a.why, a.at, a.state, a.count'

/** Rows that can have an event after $1 and up to $2. */
const NEAR = `a.id > $1::bigint - ${ROOM} and a.id <= $2::bigint`

export type Order = 'asc' | 'desc'

/** The ids that the events of the row `a` have. */
const FIRST = 'a.id + coalesce(a.dropped, 0)'
const LAST = `${FIRST} + coalesce(a.size, 1) - 1`

const IN_RANGE = 'id > $1 and id <= $2'
const IS_MEANT = [
  '$3::text is null or tenant = $3',
  '$4::text is null or scope = $4',
  '$5::text is null or key = $5',
]
  .map((condition) => `(${condition})`)
  .join(' and ')

/** How many events of the row `a` are asked for; a row with none of them is not taken apart. */
const FIT = `case
    when $3::text is null and $4::text is null and $5::text is null
      then greatest(0, least(${LAST}, $2) - greatest(${FIRST}, $1 + 1) + 1)
    when a.size is null then (${IN_RANGE} and ${IS_MEANT})::int
    when $3 <> all (a.tenants) or $4 <> all (a.scopes) or $5 <> all (a.keys) then 0
    else (select count(*) from (
      select ${ID} as id, e.* from unnest(a.tenants, a.scopes, a.keys) with ordinality as e (tenant, scope, key, ord)) e
      where ${IN_RANGE} and ${IS_MEANT}) end`

/**
 * Events after $1 and up to $2, $6 of them; of a tenant, scope, key, since a time. First the rows that they are in, so
 * that no plan takes more of them apart.
 */
export function audit(s: string, order: Order): string {
  const either = EACH.map((name) => `coalesce(e.${name}, a.${name}) as ${name}`)
  return `with fitting as (
  select id, fit from (
    select a.id, ${FIT} as fit
    from ${s}.audit a where ${NEAR} and ($7::float8 is null or a.at >= $7) order by a.id ${order} offset 0) a
  where fit > 0 order by id ${order} limit $6),
picked as materialized (
  select id from (select id, sum(fit) over (order by id ${order}) - fit as before from fitting) f where before < $6)
select ${COLUMNS} from (
  select coalesce(${ID}, a.id) as id, ${either.join(', ')}, ${SHARED}
  from picked p join ${s}.audit a on a.id = p.id left join lateral ${EVENTS} on true) e
where ${IN_RANGE} and ${IS_MEANT}
order by id ${order} limit $6`
}

/** The same of one address: by its digest in $8, and by its mark in $9. */
export function auditOf(s: string, order: Order): string {
  const own = EACH.map((name) => `a.${name}`)
  const each = EACH.map((name) => `e.${name}`)
  return `with e as materialized (
  select a.id, ${own.join(', ')}, ${SHARED} from ${s}.audit a where a.digest = $8::uuid
  union all
  select ${ID}, ${each.join(', ')}, ${SHARED} from ${s}.audit a cross join lateral ${EVENTS}
  where a.marks is not null and $9::int = any (a.marks) and ${NEAR})
select ${COLUMNS} from e
where ${IN_RANGE} and tenant = $3 and scope = $4 and key = $5 and ($7::float8 is null or at >= $7)
order by id ${order} limit $6`
}

/** The last id that an event can have whose row can be seen, before anybody asks who is still writing. */
export function auditEnd(s: string): string {
  return `select coalesce(max(id) + ${ROOM - 1}, 0)::float8, pg_is_in_recovery() from ${s}.audit`
}

/** Of the first $3 rows after $1 and up to $2: up to where none is missing, in ids of events. */
export function auditGap(s: string): string {
  return `select coalesce(
  min(coalesce("last", $1::bigint)) filter (where coalesce(id > "last" + 1, id > $1::bigint + ${ROOM})),
  max(id) + ${ROOM - 1}, $1::bigint)::float8 from (
  select id, lag(id) over (order by id) + ${ROOM - 1} as "last"
  from (select a.id from ${s}.audit a where ${NEAR} order by a.id limit $3) b) c`
}

/**
 * The last row up to $1 that came before the time $2, by halving: some forty looks at the primary key, however long the
 * log is.
 */
export function auditSince(s: string): string {
  return `with recursive half (low, high) as (
  select 0::bigint, $1::bigint
  union all
  select case when m.at < $2::float8 then m.id else h.low end, case when m.at < $2::float8 then h.high else h.middle end
  from (select low, high, (low + high) / 2 as middle from half where low < high) h
  left join lateral (
    select id, at from ${s}.audit where id > h.middle order by id limit 1) m on true)
select max(low)::float8 from half`
}

/**
 * The $1 oldest events, as far as they are old enough. Their order is that of time, near enough. A row that has more
 * is shortened; one that changed since it was looked at is left to whoever did that.
 */
export function purgeAudit(s: string): string {
  const cut = EACH.map((name) => `${name}s = a.${name}s[l.room + 1:]`)
  return `with ${CLOCK},
oldest as materialized (
  select id, at, size, coalesce(size, 1) as events, $1::bigint - sum(coalesce(size, 1)) over (order by id) as left_over
  from (select id, at, size from ${s}.audit order by id limit $1) a),
locked as materialized (
  select a.id, o.events, o.left_over, (o.left_over + o.events)::int as room
  from oldest o join ${s}.audit a on a.id = o.id and a.size is not distinct from o.size
  where o.left_over + o.events > 0 and o.at < (select now from clock) - $2::bigint
  order by a.id for update of a skip locked),
gone as (
  delete from ${s}.audit a using locked l where a.id = l.id and l.left_over >= 0 returning l.events),
cut as (
  update ${s}.audit a set size = a.size - l.room, dropped = a.dropped + l.room, ${cut.join(', ')}
  from locked l where a.id = l.id and l.left_over < 0 returning l.room)
select ((select coalesce(sum(events), 0) from gone) + (select coalesce(sum(room), 0) from cut))::int`
}

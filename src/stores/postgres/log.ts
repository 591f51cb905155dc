/**
 * Reading and shortening the audit log. A row is one event, or several that came of one statement: what they have in
 * common in the columns of a single event, the rest in arrays. Ids of rows are so far apart that each event of a row
 * has one of its own, counted from the row's.
 */
import { EACH, ROOM } from './schema.js'
import { CLOCK } from './sent.js'

/** In the order of `eventOf` in rows.ts. */
const COLUMNS =
  'id::float8, tenant, scope, key, event, "by", why, at::float8, state, epoch::float8, attempt, fingerprint, count'

/** The events of the row `a`: none where it is a single one. */
const EVENTS = `unnest(${EACH.map((name) => `a.${name}s`).join(', ')}) with ordinality as e (${EACH.join(', ')}, ord)`

/** What all events of a row have the same stands in it once. */
const both = (name: string): string => `coalesce(e.${name}, a.${name}) as ${name}`

/** Of an event of a row of several. */
const ID = 'a.row_id + a.dropped + e.ord - 1'
const SHARED = 'a.event, a."by", a.why, a.at, a.state, a.count'

/** Rows that can have an event after $1 and up to $2. */
const NEAR = `a.row_id > $1::bigint - ${ROOM} and a.row_id <= $2::bigint`

export type Order = 'asc' | 'desc'

/** The ids that the events of the row `a` have. */
const FIRST = 'a.row_id + coalesce(a.dropped, 0)'
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
    when a.size is null then (a.row_id > $1 and ${IS_MEANT})::int
    when $3 <> a.tenant or $4 <> a.scope then 0
    when $3 <> all (a.tenants) or $4 <> all (a.scopes) or $5 <> all (a.keys) then 0
    else (select count(*) from (
      select ${ID} as id, ${both('tenant')}, ${both('scope')}, e.key
      from unnest(a.tenants, a.scopes, a.keys) with ordinality as e (tenant, scope, key, ord)) e
      where ${IN_RANGE} and ${IS_MEANT}) end`

/**
 * Events after $1 and up to $2, $6 of them; of a tenant, scope, key, since a time. First the rows that they are in, so
 * that no plan takes more of them apart.
 */
export function audit(s: string, order: Order): string {
  return `with fitting as (
  select row_id, fit from (
    select a.row_id, ${FIT} as fit
    from ${s}.audit a where ${NEAR} and ($7::float8 is null or a.at >= $7) order by a.row_id ${order} offset 0) a
  where fit > 0 order by row_id ${order} limit $6),
picked as materialized (
  select row_id from (
    select row_id, sum(fit) over (order by row_id ${order}) - fit as before from fitting) f
  where before < $6)
select ${COLUMNS} from (
  select coalesce(${ID}, a.row_id) as id, ${EACH.map(both).join(', ')}, ${SHARED}
  from picked p join ${s}.audit a on a.row_id = p.row_id left join lateral ${EVENTS} on true) e
where ${IN_RANGE} and ${IS_MEANT}
order by id ${order} limit $6`
}

/** The same of one address: by its digest in $8, and by its mark in $9. */
export function auditOf(s: string, order: Order): string {
  const own = EACH.map((name) => `a.${name}`)
  return `with e as materialized (
  select a.row_id as id, ${own.join(', ')}, ${SHARED} from ${s}.audit a where a.digest = $8::uuid
  union all
  select ${ID}, ${EACH.map(both).join(', ')}, ${SHARED} from ${s}.audit a cross join lateral ${EVENTS}
  where a.marks is not null and $9::int = any (a.marks) and ${NEAR})
select ${COLUMNS} from e
where ${IN_RANGE} and tenant = $3 and scope = $4 and key = $5 and ($7::float8 is null or at >= $7)
order by id ${order} limit $6`
}

/** The id of the last event that can be seen, before anybody asks who is still writing. */
export function auditEnd(s: string): string {
  return `select coalesce((select ${LAST} from ${s}.audit a order by a.row_id desc limit 1), 0)::float8,
  pg_is_in_recovery()`
}

/** Of the first $3 rows after $1 and up to $2: up to where none is missing, in ids of events. */
export function auditGap(s: string): string {
  return `select coalesce(
  min(coalesce("last", $1::bigint)) filter (where coalesce(row_id > "last" + 1, row_id > $1::bigint + ${ROOM})),
  max(row_id) + ${ROOM - 1}, $1::bigint)::float8 from (
  select row_id, lag(row_id) over (order by row_id) + ${ROOM - 1} as "last"
  from (select a.row_id from ${s}.audit a where ${NEAR} order by a.row_id limit $3) b) c`
}

/**
 * The last row up to $1 that came before the time $2, by halving: some forty looks at the primary key, however long the
 * log is.
 */
export function auditSince(s: string): string {
  return `with recursive half (low, high) as (
  select 0::bigint, $1::bigint
  union all
  select case when m.at < $2::float8 then m.row_id else h.low end,
    case when m.at < $2::float8 then h.high else h.middle end
  from (select low, high, (low + high) / 2 as middle from half where low < high) h
  left join lateral (
    select row_id, at from ${s}.audit where row_id > h.middle order by row_id limit 1) m on true)
select max(low)::float8 from half`
}

/** Of each row, its events, and how many of $1 are left after them. */
function running(rows: string): string {
  return `select row_id, at, coalesce(size, 1) as events,
    $1::bigint - sum(coalesce(size, 1)) over (order by row_id) as left_over from (${rows}) a`
}

/**
 * The $1 oldest events, as far as they are old enough, of rows that nobody else has. Their order is that of time, near
 * enough. As many rows are locked as the first ones suggest; a row that has more events than are left is shortened.
 */
export function purgeAudit(s: string): string {
  const cut = EACH.map((name) => `${name}s = a.${name}s[l.room + 1:]`)
  const oldest = `select row_id, at, size from ${s}.audit order by row_id`
  const isOld = `left_over + events > 0 and at < (select now from clock) - $2::bigint`
  return `with ${CLOCK},
suggested as materialized (
  select count(*) as "rows" from (${running(`${oldest} limit $1`)}) o where ${isOld}),
held as materialized (
  ${running(`${oldest} limit (select "rows" from suggested) for update skip locked`)}),
old as materialized (
  select row_id, events, left_over, least(left_over + events, events)::int as room from held where ${isOld}),
gone as (
  delete from ${s}.audit a using old l where a.row_id = l.row_id and l.left_over >= 0 returning l.events),
cut as (
  update ${s}.audit a set size = a.size - l.room, dropped = a.dropped + l.room, ${cut.join(', ')}
  from old l where a.row_id = l.row_id and l.left_over < 0 returning l.room)
select ((select coalesce(sum(events), 0) from gone) + (select coalesce(sum(room), 0) from cut))::int`
}

/**
 * The statements, named after the verb they do. Batches come as columns, sorted by digest: see columns.ts. The clock
 * is read once per statement, never `now()`, which stands still in a transaction. Numbers are answered as float8:
 * exact up to 2^53.
 */
import { createHash } from 'node:crypto'
import { quoteName } from './schema.js'

export interface Statement {
  /** The name it is prepared under. */
  readonly name: string
  readonly text: string
}

export type Statements = ReturnType<typeof statements>

/** Milliseconds for instants, microseconds for epochs. */
const CLOCK = `clock as materialized (
  select floor(extract(epoch from t) * 1000)::bigint as now, floor(extract(epoch from t) * 1000000)::bigint as micros
  from clock_timestamp() as t)`

/** In the order of `receiptOf` in rows.ts. */
export function receiptColumns(r: string): string {
  return `${r}.tenant, ${r}.scope, ${r}.key, ${r}.fingerprint, ${r}.state, ${r}.token, ${r}.attempt, ${r}.max_attempts,
  ${r}.recovery, ${r}.lease_ms::float8, ${r}.window_ms::float8, ${r}.outcome, ${r}.epoch::float8,
  ${r}.created_at::float8, ${r}.at::float8, ${r}.until::float8`
}

/** In the order of `eventOf` in rows.ts. */
const EVENT_COLUMNS = `e.id::float8, e.tenant, e.scope, e.key, e.event, e."by", e.why, e.at::float8, e.state,
  e.epoch::float8, e.attempt, e.fingerprint, e.count`

/** In the order of `draftColumns`, `swapColumns` and `eventColumns` in columns.ts. */
const DRAFT = `digest uuid, tenant text, scope text, key text, fingerprint text, state text, token text, attempt int,
  max_attempts int, recovery text, lease_ms bigint, window_ms bigint, outcome text, epoch bigint, created_at bigint,
  for_ms bigint`
const SWAP = `${DRAFT}, event text, "by" text, why text, expect_token text, expect_state text, compare_until text,
  expect_until bigint`
const EVENT = `digest uuid, epoch bigint, attempt int, count int, tenant text, scope text, key text, event text,
  state text, fingerprint text, "by" text, why text`
const FOUND = Array.from({ length: 17 }, (_, i) => `f${i}`)

const DATABASE = '(select oid from pg_database where datname = current_database())'

/** How many receipts the frontier passes at once. */
export const ADVANCE_BY = 10_000

export function statements(schema: string) {
  const s = quoteName(schema)
  const text = (table: string): string => `'${s.replaceAll("'", "''")}.${table}'`
  const regclass = (table: string): string => `${text(table)}::regclass`
  const swap = (locked: boolean): string => `with ${CLOCK},
wanted as materialized (
  ${batch(SWAP)}),
${locked ? LOCKED(s) : ''}
changed as (
  update ${s}.receipts r set
    fingerprint = w.fingerprint, state = w.state, token = w.token, attempt = w.attempt,
    max_attempts = w.max_attempts, recovery = w.recovery, lease_ms = w.lease_ms, window_ms = w.window_ms,
    outcome = w.outcome, epoch = coalesce(w.epoch, greatest(c.micros, r.epoch + 1, (select frontier + 1 from ${s}.meta))),
    created_at = coalesce(w.created_at, c.now), at = c.now, until = c.now + w.for_ms,
    forget_at = case
      when w.state = 'unknown' or (w.state <> 'pending' and w.for_ms is null) then null
      when w.state = 'pending' then case when w.epoch is null then c.now + w.window_ms else r.forget_at end
      when r.forget_at <= c.now + w.for_ms then r.forget_at
      else c.now + w.for_ms end,
    attention = case w.state
      when 'unknown' then true
      when 'pending' then w.epoch is not null and (r.attention or r.state <> 'pending')
      else false end
  from wanted w cross join clock c ${locked ? 'join locked l on l.ord = w.ord' : ''}
  where ${asExpected('r')}
  returning w.ord, w.event, w."by", w.why, w.epoch is null as stamped,
    r.digest, r.at, r.epoch, r.attempt, r.tenant, r.scope, r.key, r.state, r.fingerprint),
noted as (
  insert into ${s}.audit (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint, "by", why)
  select digest, at, epoch, attempt, 1, tenant, scope, key, event, state, fingerprint, "by", why from changed)
select (select now::float8 from clock) as now, count(*)::int as done,
  string_agg(ord::text, ',') as which,
  string_agg(ord::text || ':' || epoch::text, ',') filter (where stamped) as epochs,
  ${locked ? BUSY : 'null'} as busy
from changed`

  return {
    /**
     * Inserts those that are not there. Of those that are, the row as the statement's snapshot has it: a row that
     * somebody else is changing is not waited for. Who is neither inserted nor found lost a race to a commit.
     * One audit note for the whole batch.
     */
    claim: named(
      'claim',
      `with ${CLOCK},
m as materialized (select greatest(c.micros, epoch_floor + 1, frontier + 1) as epoch from ${s}.meta, clock c),
wanted as materialized (
  select w.*, r.* from (${batch(DRAFT)}) w
  left join lateral (
    select r.tenant as t, ${receiptColumns('r')} from ${s}.receipts r
    where r.tenant = w.tenant and r.digest = w.digest limit 1
  ) r (${FOUND.join(', ')}) on true),
inserted as (
  insert into ${s}.receipts as r (digest, tenant, scope, key, fingerprint, state, token, attempt, max_attempts,
    recovery, lease_ms, window_ms, outcome, epoch, created_at, at, until, forget_at, attention)
  select digest, tenant, scope, key, fingerprint, state, token, attempt, max_attempts,
    recovery, lease_ms, window_ms, outcome, coalesce(w.epoch, m.epoch), coalesce(created_at, c.now), c.now,
    c.now + for_ms,
    case when state = 'unknown' then null when state = 'pending' then c.now + window_ms else c.now + for_ms end,
    state = 'unknown' or (state = 'pending' and w.epoch is not null)
  from wanted w cross join clock c cross join m
  where w.f0 is null
  on conflict do nothing
  returning r.digest, r.at, r.epoch, r.attempt, r.tenant, r.scope, r.key, r.state, r.fingerprint),
noted as (
  insert into ${s}.audit (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint, "by", why)
  select digest, at, epoch, attempt, 1, tenant, scope, key, $17::text, state, fingerprint, $18::text, $19::text
  from inserted)
select c.now::float8, m.epoch::float8, (select count(*)::int from inserted), w.ord::int, ${FOUND.slice(1).join(', ')}
from clock c cross join m left join wanted w on w.f0 is not null`,
    ),

    /** Changes those that are as expected. Waits for rows that are locked: up to the session's lock_timeout. */
    swap: named('swap', swap(false)),

    /** The same for sessions that are not ours: locks in the order of the batch, passes over what is locked. */
    swapUnlocked: named('swap_unlocked', swap(true)),

    get: named(
      'get',
      `with ${CLOCK}
select c.now::float8, pg_is_in_recovery(), w.ord::int, ${receiptColumns('r')}
from clock c left join (
  unnest($1::uuid[], $2::text[]) with ordinality as w (digest, tenant, ord)
  join ${s}.receipts r on r.tenant = w.tenant and r.digest = w.digest) on true`,
    ),

    /**
     * Deletes what has ended and nobody has locked, notes it, and keeps the highest epoch among it. The limit stands
     * in the text: a plan for a limit that is not known reads everything that has ended.
     */
    purge: (limit: number): Statement =>
      named(
        'purge',
        `with ${CLOCK},
ended as materialized (
  select r.tenant, r.digest from ${s}.receipts r
  where r.forget_at <= (select now from clock) and r.until <= (select now from clock)
    and r.state in ('succeeded', 'failed', 'released')
  order by r.forget_at limit ${Math.trunc(limit)} for update skip locked),
gone as (
  delete from ${s}.receipts r using ended e where r.tenant = e.tenant and r.digest = e.digest
  returning r.digest, r.epoch, r.attempt, r.tenant, r.scope, r.key, r.fingerprint),
noted as (
  insert into ${s}.audit (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint)
  select digest, c.now, epoch, attempt, 1, tenant, scope, key, 'expired', null, fingerprint from gone, clock c),
raised as (
  update ${s}.meta set epoch_floor = g.highest from (select max(epoch) as highest from gone) g
  where g.highest > epoch_floor)
select count(*)::int from gone`,
      ),

    /** The oldest events, as far as they are old enough. Their order is that of time, near enough. */
    purgeAudit: named(
      'purge_audit',
      `with ${CLOCK},
oldest as materialized (select id, at from ${s}.audit order by id limit $1 for update skip locked),
gone as (
  delete from ${s}.audit a using oldest o, clock c
  where a.id = o.id and o.at < c.now - $2::bigint returning 1)
select count(*)::int from gone`,
    ),

    /**
     * How far the frontier may go: ten seconds behind the clock, and nowhere while a write may be under way that
     * began before that. Asked on its own, before the snapshot of `advance` is taken.
     */
    quiet: named(
      'quiet',
      `select case when count(*) = 0 then floor(extract(epoch from clock_timestamp()) * 1000000)::float8 - 10000000 end
from pg_locks l left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'relation' and l.relation = ${regclass('receipts')} and l.database = ${DATABASE}
  and l.mode = 'RowExclusiveLock' and l.pid is distinct from pg_backend_pid()
  and (a.xact_start is null or a.xact_start < clock_timestamp() - interval '5 s')`,
    ),

    /**
     * Moves the frontier on: whatever was claimed before it and is still pending is marked, so that a scan for
     * pending receipts looks at the marked ones and at those behind the frontier, and at nothing else. Does nothing
     * while another process moves it.
     */
    advance: named(
      'advance',
      `with m as materialized (select frontier from ${s}.meta for update skip locked),
visited as materialized (
  select tenant, digest, epoch, state from ${s}.receipts
  where epoch > (select frontier from m) and epoch < $1::float8::bigint
  order by epoch fetch first ${ADVANCE_BY} rows with ties),
late as materialized (
  select r.tenant, r.digest from visited v join ${s}.receipts r on r.tenant = v.tenant and r.digest = v.digest
  where v.state = 'pending' and r.state = 'pending' for update of r nowait),
marked as (
  update ${s}.receipts r set attention = true, forget_at = null
  from late l where r.tenant = l.tenant and r.digest = l.digest),
moved as (
  update ${s}.meta set frontier = v.last from (select max(epoch) as last from visited) v where v.last is not null)
select count(*)::int from visited`,
    ),

    record: named(
      'record',
      `with ${CLOCK}
insert into ${s}.audit (digest, at, epoch, attempt, count, tenant, scope, key, event, state, fingerprint, "by", why)
select w.digest, c.now, w.epoch, w.attempt, w.count, w.tenant, w.scope, w.key, w.event, w.state, w.fingerprint,
  w."by", w.why
from (${batch(EVENT)}) w, clock c
order by w.ord`,
    ),

    /** How far the log goes, before anybody asks who is still writing. */
    auditEnd: named('audit_end', `select coalesce(max(id), 0)::float8, pg_is_in_recovery() from ${s}.audit`),

    /** Who is writing to the audit log right now: their events may have ids, and cannot be seen yet. */
    auditWriters: named(
      'audit_writers',
      `select virtualtransaction from pg_locks
where locktype = 'relation' and relation = ${regclass('audit')} and database = ${DATABASE}
  and mode = 'RowExclusiveLock' and pid is distinct from pg_backend_pid()`,
    ),

    /** The first id after $1, up to $2, that is not there; and how many were looked at. */
    auditGap: named(
      'audit_gap',
      `select (min(expected) filter (where id <> expected))::float8, count(*)::float8 from (
  select id, $1::bigint + row_number() over (order by id) as expected
  from (select id from ${s}.audit where id > $1 and id <= $2 order by id limit $3) a) b`,
    ),

    audit: named(
      'audit',
      `select ${EVENT_COLUMNS} from ${s}.audit e
where e.id > $1 and e.id <= $2
  and ($3::text is null or e.tenant = $3) and ($4::text is null or e.scope = $4) and ($5::text is null or e.key = $5)
order by e.id limit $6`,
    ),

    /** The events of one address. */
    auditOf: named(
      'audit_of',
      `with e as materialized (select * from ${s}.audit where digest = $7::uuid)
select ${EVENT_COLUMNS} from e
where e.id > $1 and e.id <= $2 and e.tenant = $3 and e.scope = $4 and e.key = $5
order by e.id limit $6`,
    ),
  }
}

/** The rows of a batch that was sent as columns: where a column came as one value, that one is everybody's. */
function batch(columns: string): string {
  const all = columns.split(',').map((column) => column.trim().split(' ') as [string, string])
  const param = (i: number): string => `$${i + 1}::${(all[i] as [string, string])[1]}[]`
  const names = all.map(([name], i) =>
    i === 0
      ? name
      : `coalesce(${name}, case cardinality(${param(i)}) when 1 then (${param(i)})[1] end) as ${name}`,
  )
  return `select ${names.join(', ')}, ord
  from unnest(${all.map((_, i) => param(i)).join(', ')}) with ordinality as sent (${all.map(([name]) => name).join(', ')}, ord)`
}

function named(verb: string, text: string): Statement {
  return { name: `ibid_${verb}_${createHash('sha256').update(text).digest('hex').slice(0, 12)}`, text }
}

function asExpected(r: string): string {
  return `${r}.tenant = w.tenant and ${r}.digest = w.digest and ${r}.scope = w.scope and ${r}.key = w.key
    and ${r}.token = w.expect_token and ${r}.state = w.expect_state
    and (w.compare_until is null or ${r}.until is not distinct from w.expect_until)`
}

const LOCKED = (s: string): string => `looked as materialized (
  select w.ord from wanted w cross join lateral (
    select 1 from ${s}.receipts r where ${asExpected('r')} limit 1) r),
locked as materialized (
  select w.ord from wanted w cross join lateral (
    select 1 from ${s}.receipts r where ${asExpected('r')} for update skip locked) r),`

/** As expected when last looked at, and not to be had: locked, or changed in the same moment. */
const BUSY = `(select string_agg(o.ord::text, ',') from looked o
  where not exists (select from locked l where l.ord = o.ord))`

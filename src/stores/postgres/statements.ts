/**
 * The statements, named after the verb they do; the two that everything waits for are in writes.ts, those that read
 * the audit log in log.ts. The clock is read
 * once per statement, never `now()`, which stands still in a transaction. Numbers are answered as float8: exact up
 * to 2^53.
 */
import { createHash } from 'node:crypto'
import * as log from './log.js'
import { claimAlone, settleAlone } from './lone.js'
import { quoteName } from './schema.js'
import { CLOCK, EVENT, type Group, receiptColumns, rowsOf, type Shape, valuesOf } from './sent.js'
import { claim, swap } from './writes.js'
import { notedExpired } from './written.js'

export interface Statement {
  /** The name it is prepared under. */
  readonly name: string
  readonly text: string
}

export type Statements = ReturnType<typeof statements>

const DATABASE = '(select oid from pg_database where datname = current_database())'

/** How many receipts the frontier passes at once. */
export const ADVANCE_BY = 10_000

export function statements(schema: string) {
  const s = quoteName(schema)
  const text = (table: string): string => `'${s.replaceAll("'", "''")}.${table}'`
  const regclass = (table: string): string => `${text(table)}::regclass`
  return {
    /** See writes.ts; for a batch of one, whose values need no arrays, and lone.ts: a lone caller waits less. */
    claim: variants('claim', (shape) => claim(s, { shape, races: false })),
    claimRacing: variants('claim_racing', (shape) => claim(s, { shape, races: true })),
    claimOne: named('claim_one', claim(s, { races: true })),
    claimAlone: named('claim_alone', claimAlone(s)),
    swap: variants('swap', (shape) => swap(s, { shape, kept: false })),
    swapKept: variants('swap_kept', (shape) => swap(s, { shape, kept: true })),
    swapOne: named('swap_one', swap(s, { kept: false })),
    swapKeptOne: named('swap_kept_one', swap(s, { kept: true })),
    settleAlone: named('settle_alone', settleAlone(s)),
    swapUnlocked: variants('swap_unlocked', (shape) => swap(s, { shape, kept: false, locks: true })),

    get: named(
      'get',
      `with ${CLOCK}
select c.now::float8, pg_is_in_recovery(), w.ord::int, ${receiptColumns('r')}
from clock c left join (
  unnest($1::uuid[]) with ordinality as w (digest, ord)
  join ${s}.receipts r on r.digest = w.digest) on true`,
    ),

    /**
     * Deletes what has ended and nobody has locked, notes it, and keeps the highest epoch among it. By their place in
     * the table, which the lock holds still: no index page is read. The limit stands in the text: a plan for a limit
     * that is not known reads everything that has ended.
     */
    purge: (limit: number): Statement =>
      named(
        'purge',
        forgetting(
          s,
          `select r.ctid as place from ${s}.receipts r where r.forget_at <= (select now from clock) and ${IS_OVER}
  order by r.forget_at limit ${Math.trunc(limit)} for update skip locked`,
        ),
      ),

    /** The same for those that are named: by digest and epoch. */
    forget: named(
      'forget',
      forgetting(
        s,
        `select r.ctid as place from unnest($1::uuid[], $2::bigint[]) as w (digest, epoch)
  join ${s}.receipts r on r.digest = w.digest and r.epoch = w.epoch
  where ${IS_OVER} order by r.digest for update of r skip locked`,
      ),
    ),

    purgeAudit: named('purge_audit', log.purgeAudit(s)),

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
  select * from (
    select digest, epoch, state from ${s}.receipts where epoch > (select frontier from m)
    order by epoch fetch first ${ADVANCE_BY} rows with ties) r
  where epoch < $1::float8::bigint),
late as materialized (
  select r.digest from visited v join ${s}.receipts r on r.digest = v.digest
  where v.state = 'pending' and r.state = 'pending' for update of r nowait),
marked as (
  update ${s}.receipts r set attention = true, forget_at = null
  from late l where r.digest = l.digest),
moved as (
  update ${s}.meta set frontier = v.last from (select max(epoch) as last from visited) v where v.last is not null)
select count(*)::int from visited`,
    ),

    record: variants('record', ({ varying }) => recordText(s, varying)),

    auditEnd: named('audit_end', log.auditEnd(s)),

    /** Who is writing to the audit log right now: their events may have ids, and cannot be seen yet. */
    auditWriters: named(
      'audit_writers',
      `select virtualtransaction from pg_locks
where locktype = 'relation' and relation = ${regclass('audit')} and database = ${DATABASE}
  and mode = 'RowExclusiveLock' and pid is distinct from pg_backend_pid()`,
    ),

    auditGap: named('audit_gap', log.auditGap(s)),
    auditSince: named('audit_since', log.auditSince(s)),
    audit: named('audit', log.audit(s, 'asc')),
    auditBack: named('audit_back', log.audit(s, 'desc')),
    auditOf: named('audit_of', log.auditOf(s, 'asc')),
    auditOfBack: named('audit_of_back', log.auditOf(s, 'desc')),
  }
}

const IS_OVER = "r.until <= (select now from clock) and r.state in ('succeeded', 'failed', 'released')"

function forgetting(s: string, ended: string): string {
  return `with ${CLOCK},
ended as materialized (
  ${ended}),
gone as (
  delete from ${s}.receipts r where r.ctid = any (array(select place from ended))
  returning r.digest, r.epoch, r.attempt, r.tenant, r.scope, r.key, r.fingerprint),
${notedExpired(s, 'gone')},
raised as (
  update ${s}.meta set floor = g.highest from (select max(epoch) as highest from gone) g
  where g.highest > floor)
select count(*)::int from gone`
}

function recordText(s: string, varying: readonly Group[]): string {
  const v = valuesOf(EVENT, { varying, together: false, named: [] })
  const names = EVENT.map(({ name }) => name)
  return `with ${CLOCK}
insert into ${s}.audit (at, ${names.join(', ')})
select c.now, ${names.map(v).join(', ')}
from (${rowsOf(EVENT, varying)}) w, clock c
order by w.ord`
}

function named(verb: string, text: string): Statement {
  return { name: `ibid_${verb}_${createHash('sha256').update(text).digest('hex').slice(0, 12)}`, text }
}

/** A statement for each choice of the columns that come as arrays: forty at most. */
function variants(verb: string, textOf: (shape: Shape) => string): (shape: Shape) => Statement {
  const made = new Map<string, Statement>()
  return (shape) => {
    const id = `${shape.varying.join()} ${shape.together} ${shape.named.join()}`
    const statement = made.get(id) ?? named(verb, textOf(shape))
    made.set(id, statement)
    return statement
  }
}

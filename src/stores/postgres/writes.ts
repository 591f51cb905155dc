/**
 * Claim and swap. One text each, for a batch and for a single receipt. Both write their audit notes in the same
 * statement. Settling a receipt keeps the value of every indexed column: see schema.ts for what that saves.
 */
import {
  CLOCK,
  type Column,
  DRAFT,
  KEPT,
  receiptColumns,
  rowsOf,
  type Shape,
  SWAP,
  valuesOf,
} from './sent.js'
import {
  changed,
  claimClock,
  claimed,
  eachSubject,
  intoReceipts,
  isExpected,
  NOTE,
  namesOf,
  noted,
  notedTogether,
  type Once,
  subject,
} from './written.js'

const FOUND = Array.from({ length: 17 }, (_, i) => `f${i}`)

export interface ClaimKind {
  /** Undefined: for a single receipt. */
  readonly shape?: Shape
  /** Lets another's insert of the same key win. Without it, such a race fails the statement. */
  readonly races: boolean
}

/**
 * Inserts those that are not there. Of those that are, the row as the statement's snapshot has it: a row that somebody
 * else is changing is not waited for. Who is neither inserted nor found lost a race to a commit. A batch has one audit
 * note for all.
 */
export function claim(s: string, { shape, races }: ClaimKind): string {
  const varying = shape?.varying
  const v = valuesOf(DRAFT, shape)
  const epoch = `coalesce(${v('epoch')}, (select epoch from clock))`
  const once: Once = { epoch, attempt: v('attempt'), ...namesOf(v, shape) }
  const found = `select r.tenant as t, ${receiptColumns('r')} from ${s}.receipts r
    where r.digest = ${v('digest')}`
  const looked = varying
    ? `wanted as materialized (
  select w.*, r.* from (${rowsOf(DRAFT, varying)}) w
  left join lateral (${found} limit 1) r (${FOUND.join(', ')}) on true)`
    : `wanted (${FOUND.join(', ')}) as materialized (${found})`
  return `with ${claimClock(s)},
${looked},
inserted as (
  ${intoReceipts(s)}
  select ${claimed(v)}
  from ${varying ? 'clock c, wanted w where w.f0 is null' : 'clock c where not exists (select from wanted)'}
  ${races ? 'on conflict do nothing' : ''}
  returning ${shape?.together ? `digest, ${eachSubject(once)}` : subject()}),
${shape?.together ? notedTogether(s, v, 'inserted', once) : noted(s, NOTE.map(v), 'inserted')}
select c.now::float8, c.epoch::float8, (select count(*)::int from inserted), ${varying ? 'w.ord::int' : '1'},
  ${FOUND.join(', ')}, ${varying && races ? WHICH : 'null'}
from clock c left join wanted w on w.f0 is not null`
}

/** Who was inserted, where a race kept others out: from then on their receipts may be anybody's. */
const WHICH = `case when (select count(*) from inserted) < (select count(*) from wanted where f0 is null)
    then (select string_agg(replace(digest::text, '-', ''), ',') from inserted) end`

export interface SwapKind {
  /** Undefined: for a single receipt. */
  readonly shape?: Shape
  /** Only what a change that keeps its claim can change. */
  readonly kept: boolean
  /** For sessions that are not ours. */
  readonly locks?: boolean
}

/**
 * Changes those that are as expected, and waits for rows that are locked, up to the session's lock_timeout.
 * `locks` is for sessions that are not ours, whose plans may go through a batch in any order: it locks in the order
 * of the batch, passes over what is locked already, and tells which those were.
 */
export function swap(s: string, { shape, kept, locks = false }: SwapKind): string {
  const varying = shape?.varying
  const all: readonly Column[] = kept ? KEPT : SWAP
  const v = valuesOf(all, shape)
  const once: Once = kept ? namesOf(v, shape) : { attempt: v('attempt'), ...namesOf(v, shape) }
  const is = isExpected(v, kept)
  const isNew = kept ? undefined : `${v('epoch')} is null`
  const replaced = `${REPLACED.map((name) => `${name} = ${v(name)}`).join(', ')},
    epoch = coalesce(${v('epoch')}, greatest(c.micros, r.epoch + 1, (select frontier + 1 from ${s}.meta))),
    created_at = coalesce(${v('created_at')}, c.now),`
  const each = (): string => `${NOTE.map((name) => `${v(name)} as ${name}`).join(', ')}, ${subject('r')}`
  const written = shape?.together ? eachSubject(once, 'r') : each()
  const wanted = varying ? `,\nwanted as materialized (${rowsOf(all, varying)})` : ''
  return `with ${CLOCK}${wanted}${locks ? `,\n${LOCKED(s, is)}` : ''},
changed as (
  update ${s}.receipts r set
    ${kept ? '' : replaced}
    ${changed(v, isNew)}
  from clock c${varying ? ' cross join wanted w' : ''}${locks ? ' join locked l on l.ord = w.ord' : ''}
  where ${is}
  returning ${varying ? 'w.ord' : '1::bigint as ord'}, ${isNew ?? 'false'} as stamped, ${written}),
${shape?.together ? notedTogether(s, v, 'changed', once) : noted(s, NOTE, 'changed')}
select (select now::float8 from clock) as now, count(*)::int as done,
  string_agg(ord::text, ',') as which,
  ${kept ? 'null' : `string_agg(ord::text || ':' || epoch::text, ',') filter (where stamped)`} as epochs,
  ${locks ? BUSY : 'null'} as busy
from changed`
}

const REPLACED = `fingerprint token attempt max_attempts recovery lease_ms window_ms`.split(' ')

const LOCKED = (s: string, is: string): string => `looked as materialized (
  select w.ord from wanted w cross join lateral (select 1 from ${s}.receipts r where ${is} limit 1) r),
locked as materialized (
  select w.ord from wanted w cross join lateral (select 1 from ${s}.receipts r where ${is} for update skip locked) r)`

/** As expected when last looked at, and not to be had: locked, or changed in the same moment. */
const BUSY = `(select string_agg(o.ord::text, ',') from looked o
  where not exists (select from locked l where l.ord = o.ord))`

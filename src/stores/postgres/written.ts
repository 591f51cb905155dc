/** What claims and changes write: the columns of a receipt, and the note of it in the audit log. */
import { EACH, LEAST_TOGETHER, ROOM } from './schema.js'
import type { Shape, Value } from './sent.js'

/** For claims: an epoch is above whatever was purged, and above the frontier. */
export const claimClock = (s: string): string => `clock as materialized (
  select micros / 1000 as now, greatest(micros, m.floor + 1, m.frontier + 1) as epoch
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros) as t, ${s}.meta m)`

const CONTENT =
  `digest tenant scope key fingerprint state token attempt max_attempts recovery lease_ms window_ms
  outcome`.split(/\s+/)

/** Before the rows that `claimed` speaks of. */
export const intoReceipts = (s: string): string =>
  `insert into ${s}.receipts (${CONTENT.join(', ')}, epoch, created_at, at, until, forget_at, attention)`

/** A new receipt, stamped by the clock `c`. */
export function claimed(v: Value): string {
  return `${CONTENT.map(v).join(', ')}, coalesce(${v('epoch')}, c.epoch), coalesce(${v('created_at')}, c.now), c.now,
    c.now + ${v('for_ms')},
    case ${v('state')} when 'unknown' then null when 'pending' then c.now + ${v('window_ms')}
      else c.now + ${v('for_ms')} end,
    ${v('state')} = 'unknown' or (${v('state')} = 'pending' and ${v('epoch')} is not null)`
}

/** What every change changes of the receipt `r`. `isNew`: whether it is another claim of it; undefined: never. */
export function changed(v: Value, isNew?: string): string {
  const kept = isNew
    ? `case when ${isNew} then c.now + ${v('window_ms')} else r.forget_at end`
    : 'r.forget_at'
  return `state = ${v('state')}, outcome = ${v('outcome')}, at = c.now, until = c.now + ${v('for_ms')},
    forget_at = case
      when ${v('state')} = 'unknown' or (${v('state')} <> 'pending' and ${v('for_ms')} is null) then null
      when ${v('state')} = 'pending' then ${kept}
      when r.forget_at <= c.now + ${v('for_ms')} then r.forget_at
      else c.now + ${v('for_ms')} end,
    attention = case ${v('state')}
      when 'unknown' then true
      when 'pending' then not (${isNew ?? 'false'}) and (r.attention or r.state <> 'pending')
      else false end`
}

/** The token of a claim is nobody else's: where that is the one, so is the address. */
export function isExpected(v: Value, kept: boolean): string {
  return `r.digest = ${v('digest')}
    ${kept ? '' : `and r.tenant = ${v('tenant')} and r.scope = ${v('scope')} and r.key = ${v('key')}`}
    and r.token = ${v('expect_token')} and r.state = ${v('expect_state')}
    and (${v('compare_until')} is null or r.until is not distinct from ${v('expect_until')})`
}

const SUBJECT = ['digest', 'at', 'epoch', 'attempt', 'tenant', 'scope', 'key', 'state', 'fingerprint']
export const NOTE = ['event', '"by"', 'why']

/** What a note takes of a receipt: to be returned by whatever writes one. */
export function subject(of?: string): string {
  return SUBJECT.map((name) => (of ? `${of}.${name}` : name)).join(', ')
}

/** What all receipts of a note of several have the same, by the column's name: it stands there once. */
export type Once = Readonly<Record<string, string>>

export function namesOf(v: Value, shape: Shape | undefined): Once {
  return Object.fromEntries((shape?.named ?? []).map((name) => [name, v(name)]))
}

/** What such a note takes of each receipt. */
export function eachSubject(once: Once, of?: string): string {
  return eachOf(once)
    .map((name) => (of ? `${of}.${name}` : name))
    .join(', ')
}

function eachOf(once: Once): readonly string[] {
  return EACH.filter((name) => !(name in once))
}

/** One note for all rows of `from`, which have the same state and were noted alike. `v`: those, and their marks. */
export function notedTogether(s: string, v: Value, from: string, once: Once): string {
  const each = eachOf(once)
  const columns = [...Object.keys(once), ...each.map((name) => `${name}s`)]
  const values = [...Object.values(once), ...each.map((name) => `array_agg(${name})`)]
  return `noted as (
  insert into ${s}.audit (at, count, size, dropped, state, ${NOTE.join(', ')}, marks, ${columns.join(', ')})
  select (select now from clock), 1, count(*), 0, ${v('state')}, ${NOTE.map(v).join(', ')}, ${v('marks')},
    ${values.join(', ')}
  from ${from} having count(*) > 0)`
}

/** `markOf` in digest.ts, of a digest that only the server has. */
const MARK = `('x' || substr(digest::text, 10, 4) || substr(digest::text, 15, 4))::bit(32)::int`

/** That the receipts `from` are forgotten: each in a row of its own, or together, as many as there is room for. */
export function notedExpired(s: string, from: string): string {
  const arrays = EACH.map((name) => `${name}s`)
  const gathered = EACH.map((name) => `array_agg(${name})`)
  const few = `(select count(*) from ${from}) < ${LEAST_TOGETHER}`
  return `noted as (
  insert into ${s}.audit (digest, at, ${EACH.join(', ')}, count, event)
  select digest, c.now, ${EACH.join(', ')}, 1, 'expired' from ${from}, clock c where ${few}),
noted_together as (
  insert into ${s}.audit (at, count, size, dropped, event, marks, ${arrays.join(', ')})
  select max(c.now), 1, count(*), 0, 'expired', array_agg(${MARK}), ${gathered.join(', ')}
  from (select *, (row_number() over () - 1) / ${ROOM} as part from ${from}) g, clock c
  where not ${few} group by part)`
}

/** One note for each row of `from`, which has a subject. */
export function noted(s: string, note: readonly string[], from: string): string {
  return `noted as (
  insert into ${s}.audit (${subject()}, count, ${NOTE.join(', ')})
  select ${subject()}, 1, ${note.join(', ')} from ${from})`
}

/**
 * A new action of a lone caller: its claim and its settlement, as short as they can be, because all that the server
 * sets up for a statement it sets up for this one receipt. Whatever is not as usual has no row in the answer, and is
 * asked for again with the statements of writes.ts.
 */
import { CLOCK, DRAFT, KEPT, valuesOf } from './sent.js'
import { changed, claimClock, claimed, intoReceipts, isExpected, NOTE, noted, subject } from './written.js'

/**
 * Inserts it where there is none; a row that somebody is changing or deleting counts as one. Its stamps. Without the
 * look it would wait for who deletes the row, and then stamp it with an epoch from before that.
 */
export function claimAlone(s: string): string {
  const v = valuesOf(DRAFT)
  return `with ${claimClock(s)},
inserted as (
  ${intoReceipts(s)}
  select ${claimed(v)} from clock c
  where not exists (select from ${s}.receipts r where r.digest = ${v('digest')})
  on conflict do nothing
  returning ${subject()}),
${noted(s, NOTE.map(v), 'inserted')}
select at::float8, epoch::float8 from inserted`
}

/** Changes it where it is as expected, and keeps its claim. The time. */
export function settleAlone(s: string): string {
  const v = valuesOf(KEPT)
  return `with ${CLOCK},
changed as (
  update ${s}.receipts r set ${changed(v)}
  from clock c
  where ${isExpected(v, true)}
  returning ${subject('r')}),
${noted(s, NOTE.map(v), 'changed')}
select at::float8 from changed`
}

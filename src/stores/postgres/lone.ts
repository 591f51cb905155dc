/**
 * A new action of a lone caller: its claim and its settlement, as short as they can be, because all that the server
 * sets up for a statement it sets up for this one receipt. Whatever is not as usual has no row in the answer, and is
 * asked for again with the statements of writes.ts.
 */
import { CLOCK, DRAFT, KEPT, valuesOf } from './sent.js'
import { changed, claimClock, claimed, intoReceipts, isExpected, NOTE, noted, subject } from './written.js'

/** Inserts it where there is none, without a look; a row that somebody is changing is waited for. Its stamps. */
export function claimAlone(s: string): string {
  const v = valuesOf(DRAFT)
  return `with ${claimClock(s)},
inserted as (
  ${intoReceipts(s)}
  select ${claimed(v)} from clock c
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

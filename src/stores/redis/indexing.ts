/**
 * The indexes follow the journal. A claim that is settled a moment later is never indexed as open at all, and what
 * indexing costs is paid in large steps, by whoever lists or forgets, not by claims. Where a receipt belongs is
 * read from the receipt itself, so that a step may be repeated, and several processes may do it at once.
 */
import { addressesIn, type Entry } from './codec.js'
import { digestOf, type Shard } from './layout.js'
import type { Session } from './session.js'
import { INDEX } from './upkeep.js'

/** Entries of the journal in one step: at most some five hundred receipts. */
const STEP = 16

/** Until everything is in the indexes that was in the journal when this was called. */
export async function bringUpToDate(session: Session, shard: Shard): Promise<void> {
  const newest = await session.command(shard.journal, 'XREVRANGE', shard.journal, '+', '-', 'COUNT', '1')
  const [last] = newest as readonly Found[]
  if (!last) return
  for (let more = true; more;) {
    const indexed = ((await session.command(shard.indexed, 'GET', shard.indexed)) as string | null) ?? ''
    more = indexed !== last[0] && (await indexStep(session, shard, indexed)) && !isPast(last[0], indexed)
  }
}

type Found = readonly [id: string, fields: Entry]

/** False: there is nothing left to index. */
async function indexStep(session: Session, shard: Shard, indexed: string): Promise<boolean> {
  const range = [indexed === '' ? '-' : `(${indexed}`, '+', 'COUNT', String(STEP)]
  const entries = (await session.command(
    shard.journal,
    'XRANGE',
    shard.journal,
    ...range,
  )) as readonly Found[]
  const newest = entries.at(-1)
  if (!newest) return false
  const digests = new Set(entries.flatMap(([, fields]) => addressesIn(fields).map(digestOf)))
  const keys = [shard.open, shard.ends, shard.all, shard.indexed]
  for (const digest of digests) keys.push(shard.receipts + digest)
  await session.write(INDEX, keys, [indexed, newest[0]])
  return true
}

/** Is `indexed` behind the entry that was the last one at the start? Others go on writing. */
function isPast(last: string, indexed: string): boolean {
  const [lastMs = 0, lastNumber = 0] = last.split('-').map(Number)
  const [ms = 0, number = 0] = indexed.split('-').map(Number)
  return ms > lastMs || (ms === lastMs && number >= lastNumber)
}

/**
 * Pages of receipts. Whoever asks for what is pending or held, or for what has ended, is answered from the indexes
 * and pays for what is in them; everything else goes through the list of all receipts, in the order they came.
 * Shard after shard, each in an order that no change of a receipt moves: so each is listed once.
 */
import { noCursor } from '../../core/cursor.js'
import type { Receipt, State } from '../../core/receipt.js'
import type { ScanPage, ScanQuery } from '../../store.js'
import { decodeReceipt } from './codec.js'
import { bringUpToDate } from './indexing.js'
import { digestOf, type Shard } from './layout.js'
import { GET } from './scripts.js'
import type { Session } from './session.js'

/** Where a walk stands in one shard: what to put into a cursor, and the digest of the receipt there. */
interface Spot {
  readonly at: string
  readonly digest: string
}

/** Up to `count` spots after the one given; fewer only at the end. */
type Walk = (shard: Shard, after: string, count: number) => Promise<readonly Spot[]>

interface Cursor {
  readonly walk: number
  readonly shard: number
  readonly after: string
  /** When the first page was read: what ends later belongs to a later scan. */
  readonly startMs: number
}

const CHUNK = 200

export async function scan(session: Session, query: ScanQuery): Promise<ScanPage> {
  const { layout } = await session.ready()
  const { tenant, scope, key, limit } = query
  if (tenant !== undefined && scope !== undefined && key !== undefined) {
    const digest = digestOf({ tenant, scope, key })
    const { nowMs, receipts } = await read(session, layout.shardOf(digest), [digest])
    return { now: nowMs, receipts: receipts.filter((one) => one && isWanted(one, query, nowMs)) as Receipt[] }
  }
  const start = query.cursor === undefined ? undefined : readCursor(query.cursor)
  if (!start) await Promise.all(layout.shards.map((shard) => bringUpToDate(session, shard)))
  const startMs = start?.startMs ?? (await read(session, layout.shards[0] as Shard, [])).nowMs
  const walks = walksFor(session, query, startMs)
  const found: Receipt[] = []
  let nowMs = startMs
  let { walk, shard, after } = start ?? { walk: 0, shard: 0, after: '' }
  for (; walk < walks.length; walk++, shard = 0) {
    for (; shard < layout.shards.length; shard++, after = '') {
      for (let more = true; more;) {
        const home = layout.shards[shard] as Shard
        const spots = await (walks[walk] as Walk)(home, after, CHUNK)
        more = spots.length >= CHUNK
        if (spots.length === 0) break
        const page = await read(
          session,
          home,
          spots.map(({ digest }) => digest),
        )
        nowMs = page.nowMs
        for (const [i, spot] of spots.entries()) {
          if (found.length === limit)
            return { now: nowMs, receipts: found, cursor: cursor({ walk, shard, after, startMs }) }
          const receipt = page.receipts[i]
          if (receipt && isWanted(receipt, query, nowMs)) found.push(receipt)
          after = spot.at
        }
      }
    }
  }
  return { now: nowMs, receipts: found }
}

function walksFor(session: Session, { states, ended }: ScanQuery, startMs: number): readonly Walk[] {
  const open = states === undefined || states.some(isOpen)
  const settled = states === undefined || !states.every(isOpen)
  if (ended) {
    return [
      ...(open ? [byScore(session, 'open', String(startMs))] : []),
      ...(settled ? [byScore(session, 'ends', String(startMs))] : []),
    ]
  }
  return settled ? [byScore(session, 'all', '+inf')] : [byDigest(session)]
}

/** By the score of a sorted set, and by digest where that is the same. */
function byScore(session: Session, index: 'open' | 'ends' | 'all', highest: string): Walk {
  return async (shard, after, count) => {
    const [score = '', digest = ''] = after.split(' ')
    // Many may have the same score: look further until there are enough behind the one we know.
    for (let most = count; ; most *= 2) {
      const range = [shard[index], score || '-inf', highest, 'WITHSCORES', 'LIMIT', '0', String(most)]
      const reply = await session.command(shard[index], 'ZRANGEBYSCORE', ...range)
      const spots = spotsOf(reply as readonly (string | readonly string[])[])
      const rest = spots.filter((spot) => spot.score !== score || spot.digest > digest)
      if (rest.length >= count || spots.length < most) return rest.slice(0, count)
    }
  }
}

/** The old protocol answers with a flat list, the new one with pairs. */
function spotsOf(
  reply: readonly (string | readonly string[])[],
): readonly (Spot & { readonly score: string })[] {
  const flat = reply.flat()
  const spots: (Spot & { readonly score: string })[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [digest, score] = [flat[i] as string, String(flat[i + 1])]
    spots.push({ at: `${score} ${digest}`, digest, score })
  }
  return spots
}

/** The open ones of a shard, all of them each time: leases move while somebody reads, digests do not. */
function byDigest(session: Session): Walk {
  return async (shard, after, count) => {
    const digests = new Set<string>()
    let cursor = '0'
    do {
      const reply = await session.command(shard.open, 'ZSCAN', shard.open, cursor, 'COUNT', '1000')
      const [next, flat] = reply as [string | number, readonly string[]]
      for (let i = 0; i < flat.length; i += 2) if ((flat[i] as string) > after) digests.add(flat[i] as string)
      cursor = String(next)
    } while (cursor !== '0')
    return [...digests]
      .toSorted()
      .slice(0, count)
      .map((digest) => ({ at: digest, digest }))
  }
}

async function read(
  session: Session,
  shard: Shard,
  digests: readonly string[],
): Promise<{ readonly nowMs: number; readonly receipts: readonly (Receipt | undefined)[] }> {
  const keys = [shard.journal, ...digests.map((digest) => shard.receipts + digest)]
  const [nowText, ...texts] = (await session.run(GET, keys, [])) as readonly (string | null)[]
  return { nowMs: Number(nowText), receipts: texts.map((text) => (text ? decodeReceipt(text) : undefined)) }
}

function isWanted(receipt: Receipt, query: ScanQuery, nowMs: number): boolean {
  const { tenant, scope, key, states, ended } = query
  return (
    (tenant === undefined || receipt.tenant === tenant) &&
    (scope === undefined || receipt.scope === scope) &&
    (key === undefined || receipt.key === key) &&
    (states === undefined || states.includes(receipt.state)) &&
    (ended !== true || (receipt.until !== null && receipt.until <= nowMs))
  )
}

function isOpen(state: State): boolean {
  return state === 'pending' || state === 'unknown'
}

function cursor({ walk, shard, after, startMs }: Cursor): string {
  return `${walk}/${shard}/${startMs}/${after}`
}

function readCursor(text: string): Cursor {
  const [, walk, shard, startMs, after] = /^(\d+)\/(\d+)\/(\d+)\/([\w .+-]*)$/.exec(text) ?? []
  if (after === undefined) throw noCursor()
  return { walk: Number(walk), shard: Number(shard), startMs: Number(startMs), after }
}

/**
 * A memory store that is watched: after every write, what it did to the receipt is held against what a receipt may
 * ever do, whoever asked for it. The rules are written out here once more, on purpose, without the engine's table.
 */
import type { Receipt } from '../../src/core/receipt.js'
import type { Store } from '../../src/store.js'

export interface Watcher {
  /** Everything that was not allowed, in words. */
  readonly breaches: string[]
  look(): Promise<{ readonly receipt: Receipt | undefined; readonly now: number }>
}

type Where = { readonly tenant: string; readonly scope: string; readonly key: string }

/** `owns`: does this asker have the token? */
export function watched<Tx>(
  inner: Store<Tx>,
  where: Where,
  breaches: string[],
  owns: (token: string) => boolean,
): Store<Tx> {
  async function look(): Promise<{ receipt: Receipt | undefined; now: number }> {
    const { receipts, now } = await inner.get([where])
    return { receipt: receipts[0], now }
  }
  async function around<T>(what: string, write: () => Promise<T>): Promise<T> {
    const before = await look()
    const answer = await write()
    const after = await look()
    breaches.push(...judge(before.receipt, after.receipt, after.now, owns).map((why) => `${what}: ${why}`))
    return answer
  }
  return {
    ...inner,
    claim: (wanted) => around('claim', () => inner.claim(wanted)),
    swap: (changes) => around('swap', () => inner.swap(changes)),
  }
}

function judge(
  before: Receipt | undefined,
  after: Receipt | undefined,
  now: number,
  owns: (token: string) => boolean,
): string[] {
  if (!before || !after || before === after) return []
  const isOver = before.until !== null && now >= before.until
  const isMine = owns(before.token)
  const found: string[] = []
  const settled = before.state === 'succeeded' || before.state === 'failed'
  if (settled && !isOver) found.push(`a settled receipt changed from ${before.state} to ${after.state}`)
  if (after.epoch < before.epoch) found.push('the epoch went backwards')
  if (after.token !== before.token && after.epoch === before.epoch)
    found.push('a new owner has the old epoch')
  if (after.fingerprint !== before.fingerprint && !isOver) found.push('the fingerprint changed')
  if (before.state === 'pending' && !isOver && !isMine) {
    found.push(`somebody else moved a receipt whose lease is alive to ${after.state}`)
  }
  if (before.state === 'pending' && !isMine && (after.state === 'succeeded' || after.state === 'failed')) {
    found.push('somebody else settled it')
  }
  if (before.state === 'unknown' && after.state === 'pending')
    found.push('a held receipt ran again unresolved')
  return found
}

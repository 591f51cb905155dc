/**
 * A memory store that is watched: after every write, what it did to the receipt is held against what a receipt may
 * ever do, whoever asked for it. The rules are written out here once more, on purpose, without the engine's table.
 */
import type { Draft, Receipt } from '../../src/core/receipt.js'
import type { Store } from '../../src/store.js'

export interface Change {
  readonly before: Receipt | undefined
  readonly after: Receipt
  readonly now: number
}

/** One write at a time on each store, so that what changed is known to be this one's doing. */
const lines = new WeakMap<object, Promise<unknown>>()

/** `owns`: does this asker have the token? */
export function watched<Tx>(
  inner: Store<Tx>,
  breaches: string[],
  owns: (token: string) => boolean,
  onChange?: (change: Change) => void,
): Store<Tx> {
  function around<T>(what: string, drafts: readonly Draft[], write: () => Promise<T>): Promise<T> {
    const done = (lines.get(inner) ?? Promise.resolve()).then(() => between(what, drafts, write))
    lines.set(
      inner,
      done.catch(() => undefined),
    )
    return done
  }

  async function between<T>(what: string, drafts: readonly Draft[], write: () => Promise<T>): Promise<T> {
    const before = await inner.get(drafts)
    const answer = await write()
    const { receipts, now } = await inner.get(drafts)
    receipts.forEach((after, at) => {
      const was = before.receipts[at]
      if (!after || isSame(was, after)) return
      onChange?.({ before: was, after, now })
      breaches.push(...judge(was, after, now, owns).map((why) => `${what}: ${why}`))
    })
    return answer
  }
  return {
    ...inner,
    claim: (wanted) => around('claim', wanted, () => inner.claim(wanted)),
    swap: (changes) =>
      around(
        'swap',
        changes.map(({ next }) => next),
        () => inner.swap(changes),
      ),
  }
}

function isSame(one: Receipt | undefined, two: Receipt): boolean {
  return (
    one?.token === two.token && one.state === two.state && one.until === two.until && one.epoch === two.epoch
  )
}

function judge(
  before: Receipt | undefined,
  after: Receipt,
  now: number,
  owns: (token: string) => boolean,
): string[] {
  if (!before) return []
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

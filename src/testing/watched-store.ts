/**
 * A store that is watched: after every write, what it did to the receipt is held against what a receipt may ever do,
 * whoever asked for it. The rules are written out here once more, on purpose, without the engine's table. What stood
 * there before is remembered here and not read, so that a receipt that was forgotten still has its last epoch.
 */
import { type Address, addressId, type Receipt } from '../core/receipt.js'
import type { Store } from '../store.js'

export interface Change {
  readonly before: Receipt | undefined
  readonly after: Receipt
  readonly now: number
}

/** What all who watch one store know of it. */
interface Known {
  /** One write at a time, so that what changed is known to be this one's doing. */
  line: Promise<unknown>
  readonly receipts: Map<string, { readonly receipt: Receipt; readonly isGone: boolean }>
}

const known = new WeakMap<object, Known>()

/** `owns`: does this asker have the token? */
export function watched<Tx>(
  inner: Store<Tx>,
  breaches: { push(...breaches: string[]): unknown },
  owns: (token: string) => boolean,
  onChange?: (change: Change) => void,
): Store<Tx> {
  const shared = known.get(inner) ?? remember(inner)
  const remembered = shared.receipts

  function inLine<T>(write: () => Promise<T>): Promise<T> {
    const done = shared.line.then(write)
    shared.line = done.catch(() => undefined)
    return done
  }

  async function look(what: string, addresses: readonly Address[]): Promise<void> {
    const { receipts, now } = await inner.get(addresses)
    receipts.forEach((after, at) => {
      const id = addressId(addresses[at] as Address)
      const was = remembered.get(id)
      if (!after || isSame(was?.receipt, after)) return
      remembered.set(id, { receipt: after, isGone: false })
      const before = was?.isGone ? undefined : was?.receipt
      onChange?.({ before, after, now })
      if (was && after.epoch < was.receipt.epoch) breaches.push(`${what}: the epoch went backwards`)
      breaches.push(...judge(before, after, now, owns).map((why) => `${what}: ${why}`))
    })
  }

  function around<T>(what: string, addresses: readonly Address[], write: () => Promise<T>): Promise<T> {
    return inLine(async () => {
      const answer = await write()
      await look(what, addresses)
      return answer
    })
  }

  /** What a purge may delete is what is settled or released. */
  async function lookForGone(): Promise<void> {
    const there = [...remembered].filter(([, { isGone }]) => !isGone)
    const { receipts } = await inner.get(there.map(([, { receipt }]) => receipt))
    there.forEach(([id, { receipt }], at) => {
      if (receipts[at]) return
      remembered.set(id, { receipt, isGone: true })
      if (receipt.state === 'pending' || receipt.state === 'unknown')
        breaches.push(`purge: a receipt that is ${receipt.state} was forgotten`)
    })
  }

  const transact = inner.transact?.bind(inner)
  return {
    ...inner,
    claim: (wanted) => around('claim', wanted, () => inner.claim(wanted)),
    swap: (changes) => {
      const addresses = changes.map(({ next }) => next)
      return around('swap', addresses, () => inner.swap(changes))
    },
    purge: (limit, auditMs) =>
      inLine(async () => {
        const purged = await inner.purge(limit, auditMs)
        if (purged.receipts > 0) await lookForGone()
        return purged
      }),
    ...(transact
      ? {
          async transact(work) {
            const touched: Address[] = []
            const result = await transact((tx, swap) =>
              work(tx, (change) => {
                touched.push(change.next)
                return swap(change)
              }),
            )
            await inLine(() => look('transact', touched))
            return result
          },
        }
      : {}),
  }
}

function remember(store: object): Known {
  const fresh: Known = { line: Promise.resolve(), receipts: new Map() }
  known.set(store, fresh)
  return fresh
}

function isSame(one: Receipt | undefined, two: Receipt): boolean {
  return (
    one?.token === two.token &&
    one.state === two.state &&
    one.until === two.until &&
    one.epoch === two.epoch &&
    one.outcome === two.outcome
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

/**
 * Who waits is told when a receipt is settled, over NOTIFY. Notifying of every settlement would be wasted on nearly
 * all of them, and a transaction that notifies holds a lock of the whole server while it commits. So it goes both
 * ways: a process that finds a receipt in flight says that it waits for it, and the process that settles one that is
 * waited for says so, in a transaction of its own that nobody waits for. Only digests travel. What gets lost is
 * found by the waiter's own polling.
 */
import { createHash } from 'node:crypto'
import type { Address } from '../../core/receipt.js'
import { digestOf } from './digest.js'
import type { Driver } from './driver.js'
import type { Statement } from './statements.js'

export interface Hints {
  /** This process waits for the end of a receipt. */
  await(address: Address): void
  /** This process has settled one. */
  settled(digest: string): void
  watch(listener: (address: Address) => void): () => void
  close(): void
}

/** Digests in one notification: 33 characters each, below the limit of 8000 bytes. */
const MOST_AT_ONCE = 200
const MOST_KEPT = 10_000
const REMIND_MS = 1_000

/** Nothing is lost with it, so its commit does not wait for the disk. */
const NOTIFY: Statement = {
  name: 'ibid_notify',
  text: `select set_config('synchronous_commit', 'off', true), pg_notify($1, p) from unnest($2::text[]) p`,
}

export function createHints(driver: Driver, schema: string): Hints {
  const channel = `ibid_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`
  const listeners = new Set<(address: Address) => void>()
  /** What this process waits for, and what others have said that they wait for. */
  const ours = new Map<string, { readonly address: Address; readonly saidMs: number }>()
  const theirs = new Set<string>()
  let outbox: string[] = []
  let sending = false
  let stop: (() => void) | undefined

  function hear(payload: string): void {
    const digests = payload.slice(1).split(',')
    for (const digest of digests) {
      if (payload[0] === 'w') keep(theirs, digest)
      else if (payload[0] === 's') tell(digest)
    }
  }

  function tell(digest: string): void {
    const waited = ours.get(digest)
    if (!waited) return
    ours.delete(digest)
    for (const listener of listeners) listener(waited.address)
  }

  function say(kind: 'w' | 's', digest: string): void {
    outbox.push(kind + digest)
    if (!sending) void flush()
  }

  /** Whatever comes up while a notification is on its way goes with the next. */
  async function flush(): Promise<void> {
    sending = true
    await Promise.resolve()
    while (outbox.length > 0) {
      const payloads = payloadsOf(outbox)
      outbox = []
      await driver.run(NOTIFY, [channel, `{${payloads.map((p) => `"${p}"`).join(',')}}`]).catch(() => {})
    }
    sending = false
  }

  return {
    await({ tenant, scope, key }) {
      if (!stop) return
      const address = { tenant, scope, key }
      const digest = digestOf(address)
      const nowMs = performance.now()
      const said = ours.get(digest)
      if (said && nowMs - said.saidMs < REMIND_MS) return
      ours.delete(digest)
      ours.set(digest, { address, saidMs: nowMs })
      if (ours.size > MOST_KEPT) ours.delete(ours.keys().next().value as string)
      say('w', digest)
    },
    settled(digest) {
      if (theirs.delete(digest)) say('s', digest)
    },
    watch(listener) {
      listeners.add(listener)
      stop ??= driver.listen(channel, hear)
      return () => void listeners.delete(listener)
    },
    close() {
      listeners.clear()
      stop?.()
      stop = undefined
    },
  }
}

function keep(digests: Set<string>, digest: string): void {
  digests.delete(digest)
  digests.add(digest)
  if (digests.size > MOST_KEPT) digests.delete(digests.keys().next().value as string)
}

function payloadsOf(said: readonly string[]): readonly string[] {
  const payloads: string[] = []
  for (const kind of ['w', 's']) {
    const digests = said.filter((one) => one.startsWith(kind)).map((one) => one.slice(1))
    for (let i = 0; i < digests.length; i += MOST_AT_ONCE) {
      payloads.push(kind + digests.slice(i, i + MOST_AT_ONCE).join(','))
    }
  }
  return payloads
}

/**
 * Wakes waiters. A swap that ends a pending receipt publishes its digest; who waits for that receipt has asked the
 * store about it before, so the store remembers which address a digest stood for. A message that comes too early,
 * or is lost, wakes nobody: waiters also poll.
 */
import type { Address } from '../../core/receipt.js'
import { digestsIn } from './layout.js'
import type { Session } from './session.js'

export interface Watch {
  /** Somebody was told that this receipt is pending. */
  remember(digest: string, address: Address): void
  add(listener: (address: Address) => void): () => void
  close(): void
}

/** More than that many waiting keys in one process, and the oldest are left to their polling. */
const MOST_REMEMBERED = 20_000
const RETRY_MS = 1_000

export function createWatch(session: Session): Watch {
  const listeners = new Set<(address: Address) => void>()
  const remembered = new Map<string, Address>()
  let isSubscribed = false

  function tell(message: string): void {
    if (remembered.size === 0) return
    for (const digest of digestsIn(message)) {
      const address = remembered.get(digest)
      if (!address) continue
      remembered.delete(digest)
      for (const listener of listeners) listener(address)
    }
  }

  /** Once, and then the client keeps it up. */
  async function subscribe(): Promise<void> {
    try {
      const { driver, layout } = await session.ready()
      await driver.subscribe(layout.channel, tell)
    } catch {
      isSubscribed = false
      setTimeout(start, RETRY_MS).unref()
    }
  }

  function start(): void {
    if (isSubscribed || listeners.size === 0) return
    isSubscribed = true
    void subscribe()
  }

  return {
    remember(digest, { tenant, scope, key }) {
      if (listeners.size === 0) return
      remembered.delete(digest)
      remembered.set(digest, { tenant, scope, key })
      if (remembered.size <= MOST_REMEMBERED) return
      for (const oldest of remembered.keys()) {
        remembered.delete(oldest)
        return
      }
    },
    add(listener) {
      listeners.add(listener)
      start()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) remembered.clear()
      }
    },
    close() {
      listeners.clear()
      remembered.clear()
    },
  }
}

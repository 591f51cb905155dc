/**
 * Wakes waiters. A swap that ends a pending receipt publishes its digest; who waits for that receipt has asked the
 * store about it before, so the store remembers which address a digest stood for. A message that is lost wakes nobody:
 * waiters also poll. Every message goes to every process that listens, so a process listens only while it was told
 * of pending receipts lately.
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
/** Who still waits then goes on by polling. */
const IDLE_MS = 60_000

export function createWatch(session: Pick<Session, 'ready'>, idleMs = IDLE_MS): Watch {
  const listeners = new Set<(address: Address) => void>()
  const remembered = new Map<string, Address>()
  let isListening = false
  let rememberedMs = 0
  let idling: NodeJS.Timeout | undefined

  function wake(address: Address): void {
    for (const listener of listeners) listener(address)
  }

  function hear(message: string): void {
    if (remembered.size === 0) return
    for (const digest of digestsIn(message)) {
      const address = remembered.get(digest)
      if (!address) continue
      remembered.delete(digest)
      wake(address)
    }
  }

  /** The client keeps it up, until nobody was told of anything pending for a while. */
  async function subscribe(): Promise<void> {
    try {
      const { driver, layout } = await session.ready()
      const end = await driver.subscribe(layout.channel, hear)
      // What ended before is not published again.
      for (const address of remembered.values()) wake(address)
      idling = setInterval(() => {
        if (performance.now() - rememberedMs < idleMs) return
        stop()
        end()
      }, idleMs).unref()
    } catch {
      isListening = false
      setTimeout(start, RETRY_MS).unref()
    }
  }

  function start(): void {
    if (performance.now() - rememberedMs >= idleMs) remembered.clear()
    if (isListening || remembered.size === 0) return
    isListening = true
    void subscribe()
  }

  function stop(): void {
    clearInterval(idling)
    isListening = false
    remembered.clear()
  }

  return {
    remember(digest, { tenant, scope, key }) {
      if (listeners.size === 0) return
      rememberedMs = performance.now()
      remembered.delete(digest)
      remembered.set(digest, { tenant, scope, key })
      start()
      if (remembered.size <= MOST_REMEMBERED) return
      for (const oldest of remembered.keys()) {
        remembered.delete(oldest)
        return
      }
    },
    add(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) remembered.clear()
      }
    },
    close() {
      listeners.clear()
      stop()
    },
  }
}

/**
 * Tells the broker that a message is still being worked on, for all messages of a consumer with one timer. It runs on
 * the handler's own loop, like the lease's renewals: a process that hangs stops telling, and loses both together.
 */

import { type Member, Roster } from '../../core/roster.js'

interface Told<M> extends Member {
  readonly message: M
}

export interface Working<M> {
  /** Returns what to call when the message has its verdict. */
  start(message: M): () => void
}

export function createWorking<M>(everyMs: number, tell: (message: M) => unknown): Working<M> {
  const active = new Roster<Told<M>>()
  let timer: ReturnType<typeof setInterval> | undefined

  function tellAll(): void {
    active.each(({ message }) => void told(message))
  }

  /** One that is lost does no harm: the next is on its way before the broker's wait is over. */
  async function told(message: M): Promise<void> {
    try {
      await tell(message)
    } catch {
      // The broker redelivers at worst, and the guard knows the message.
    }
  }

  return {
    start(message) {
      // An object of its own: the same message may be in here twice.
      const one = { message, at: -1 }
      active.add(one)
      timer ??= setInterval(tellAll, everyMs).unref()
      return () => {
        active.delete(one)
        if (active.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

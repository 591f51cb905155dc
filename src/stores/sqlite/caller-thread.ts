/** The desk on the caller's own thread: nothing has to be sent anywhere, and each commit stalls the caller's loop. */
import type { CatalogueCopy } from './catalogue.js'
import { Desk, type DeskSettings } from './desk.js'
import { toError } from './errors.js'
import type { Answered, Thread } from './thread.js'
import type { Verb, Verbs } from './verbs.js'

export interface CallerThread extends Thread {
  /** Is there something that this thread leaves to another? */
  isUntidy(): boolean
  learn(known: CatalogueCopy): void
}

const TURN_MS = 4

export function callerThread(settings: DeskSettings): CallerThread {
  const desk = new Desk(settings)
  let due = false
  let lastTurnMs = Number.NEGATIVE_INFINITY

  function work(): void {
    due = false
    desk.work()
  }

  /**
   * Calls that follow each other in microtasks alone would keep timers and sockets waiting for ever: now and then the
   * loop gets its turn before the next one.
   */
  function soon(): void {
    if (due) return
    due = true
    setImmediate(() => {
      lastTurnMs = performance.now()
      work()
    })
  }

  function take<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']> {
    return new Promise((resolve, reject) => {
      desk.take({
        verb,
        input,
        done: (output) => resolve(output as Verbs[V]['out']),
        failed: (failure) => reject(toError(failure)),
      })
      soon()
    })
  }

  return {
    kind: 'caller',
    call<V extends Verb>(verb: V, input: Verbs[V]['in']): Answered<V> {
      const done = !due && performance.now() - lastTurnMs < TURN_MS ? desk.now(verb, input) : undefined
      return done ? (done.output as Verbs[V]['out']) : take(verb, input)
    },
    isUntidy: () => desk.isUntidy,
    learn: (known) => desk.learn(known),
    close: async () => desk.close(),
  }
}

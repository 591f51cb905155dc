/** The desk on the caller's own thread: nothing has to be sent anywhere, and each commit stalls the caller's loop. */
import type { CatalogueCopy } from './catalogue.js'
import { Desk, type DeskSettings } from './desk.js'
import { toError } from './errors.js'
import type { Thread } from './thread.js'

export interface CallerThread extends Thread {
  /** Is there something that this thread leaves to another? */
  isUntidy(): boolean
  learn(known: CatalogueCopy): void
}

export function callerThread(settings: DeskSettings): CallerThread {
  const desk = new Desk(settings)
  let due = false
  return {
    kind: 'caller',
    call: (verb, input) =>
      new Promise((resolve, reject) => {
        desk.take({
          verb,
          input,
          done: (output) => resolve(output as never),
          failed: (failure) => reject(toError(failure)),
        })
        if (due) return
        due = true
        queueMicrotask(() => {
          due = false
          desk.work()
        })
      }),
    isUntidy: () => desk.isUntidy,
    learn: (known) => desk.learn(known),
    close: async () => desk.close(),
  }
}

/**
 * The caller's side of the thread that has the file open. It starts with the first call, keeps the process alive
 * only while somebody waits, and starts anew after a crash, which rejects what waited.
 */
import { Worker } from 'node:worker_threads'
import type { DeskSettings } from './desk.js'
import { storeFailure } from '../../core/errors.js'
import { UnderWay } from '../../core/under-way.js'
import { type Failure, toError } from './errors.js'
import type { Thread } from './thread.js'
import type { Verb } from './verbs.js'
import { pack } from './wire.js'

export type Asked = readonly [id: number, verb: Verb, sent: unknown]
export type Answer = readonly [id: number, output: unknown, failure?: Failure]

export const WORKER = new URL('./worker.js', import.meta.url)

interface Waiting {
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
}

export function workerThread(settings: DeskSettings): Thread {
  const waiting = new UnderWay<number, Waiting>()
  let worker: Worker | undefined
  let lastId = 0

  function start(): Worker {
    const started = new Worker(WORKER, { workerData: settings, name: 'ibid-sqlite' })
    started.on('message', (answers: readonly Answer[]) => {
      for (const answer of answers) settle(answer)
      if (waiting.size > 0) return
      started.unref()
    })
    started.on('error', (error) => stopped(started, error))
    started.on('exit', () => stopped(started, undefined))
    return started
  }

  function settle([id, output, failure]: Answer): void {
    const asked = waiting.take(id)
    if (failure === undefined) asked?.resolve(output as never)
    else asked?.reject(toError(failure))
  }

  /** Whatever waited may or may not have been written. */
  function stopped(which: Worker, cause: unknown): void {
    if (worker !== which) return
    worker = undefined
    const error = storeFailure(
      `the thread that works on ${settings.file} has stopped; what waited may or may not have been written`,
      'repeat the call: a new thread is started for it',
      true,
      cause,
    )
    for (const id of waiting.keys()) waiting.take(id)?.reject(error)
  }

  return {
    kind: 'worker',
    call: (verb, input) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        if (waiting.size === 0) worker.ref()
        waiting.set(++lastId, { resolve, reject })
        worker.postMessage([lastId, verb, pack(verb, input)], [])
      }),
    close: async () => {
      const closing = worker
      if (!closing) return
      const ended = new Promise((resolve) => closing.once('exit', resolve))
      worker = undefined
      closing.ref()
      closing.postMessage(null, [])
      await ended
    },
  }
}

/**
 * The caller's side of the thread that has the file open. It starts with the first call, keeps the process alive
 * only while somebody waits, and starts anew after a crash, which rejects what waited.
 *
 * Where the worker's file is not beside this one (in a bundle, or from the sources under a test runner), the same
 * desk works on the caller's thread, and stalls it for the time of each commit.
 */
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { Desk, type DeskSettings } from './desk.js'
import { stayAwake } from './awake.js'
import { type Failure, storeFailure, toError } from './errors.js'
import type { Verb, Verbs } from './verbs.js'
import { pack } from './wire.js'

export type Asked = readonly [id: number, verb: Verb, sent: unknown]
export type Answer = readonly [id: number, output: unknown, failure?: Failure]

export interface Thread {
  readonly kind: 'worker' | 'caller'
  readonly call: <V extends Verb>(verb: V, input: Verbs[V]['in']) => Promise<Verbs[V]['out']>
  /** Once nothing is on its way any more. */
  readonly close: () => Promise<void>
}

/** As long as a good disk takes for a commit. A slower one is slept for. */
const ANSWER_MS = 0.4
/** Up to so many writes in a call count as a lone one. */
const LONE = 4

const WORKER = new URL('./worker.js', import.meta.url)

export function startThread(settings: DeskSettings, kind: Thread['kind'] | undefined): Thread {
  const possible = WORKER.protocol === 'file:' && existsSync(WORKER)
  return (kind ?? (possible ? 'worker' : 'caller')) === 'worker'
    ? workerThread(settings)
    : callerThread(settings)
}

interface Waiting {
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
}

function workerThread(settings: DeskSettings): Thread {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let lastId = 0
  const awake = stayAwake(ANSWER_MS)

  function start(): Worker {
    const started = new Worker(WORKER, { workerData: settings, name: 'ibid-sqlite' })
    started.on('message', (answers: readonly Answer[]) => {
      for (const answer of answers) settle(answer)
      if (waiting.size > 0) return
      started.unref()
      awake.came()
    })
    started.on('error', (error) => stopped(started, error))
    started.on('exit', () => stopped(started, undefined))
    return started
  }

  function settle([id, output, failure]: Answer): void {
    const asked = waiting.get(id)
    waiting.delete(id)
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
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  return {
    kind: 'worker',
    call: (verb, input) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        if (waiting.size === 0) worker.ref()
        waiting.set(++lastId, { resolve, reject })
        worker.postMessage([lastId, verb, pack(verb, input)], [])
        // A lone caller would spend a third of its time on waking threads up. A crowd keeps them awake by itself.
        if (waiting.size === 1 && (!Array.isArray(input) || input.length <= LONE)) awake.expect()
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

function callerThread(settings: DeskSettings): Thread {
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
    close: async () => desk.close(),
  }
}

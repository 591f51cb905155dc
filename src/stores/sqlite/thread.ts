/**
 * Where commits wait for the disk. A crowd is served by a worker thread, so that the caller's event loop goes on
 * while a batch is written. A lone caller would pay more for the way there and back than for the commit itself, so a
 * few writes at a time are made on the caller's own thread, as long as the disk answers within a millisecond.
 *
 * Where the worker's file is not beside this one (in a bundle, or from the sources under a test runner), everything
 * happens on the caller's thread.
 */
import { existsSync } from 'node:fs'
import { bothThreads } from './both-threads.js'
import { callerThread } from './caller-thread.js'
import type { DeskSettings } from './desk.js'
import type { Verb, Verbs } from './verbs.js'
import { WORKER, workerThread } from './worker-thread.js'

export type ThreadKind = 'auto' | 'worker' | 'caller'

export type Answered<V extends Verb> = Verbs[V]['out'] | Promise<Verbs[V]['out']>

export interface Thread {
  readonly kind: ThreadKind
  /** What is done at once is answered at once. */
  readonly call: <V extends Verb>(verb: V, input: Verbs[V]['in']) => Answered<V>
  /** Once nothing is on its way any more. */
  readonly close: () => Promise<void>
}

export function startThread(settings: DeskSettings, wanted: ThreadKind = 'auto'): Thread {
  const possible = WORKER.protocol === 'file:' && existsSync(WORKER)
  if (wanted === 'caller' || !possible) return callerThread(settings)
  return wanted === 'worker' ? workerThread(settings) : bothThreads(settings)
}

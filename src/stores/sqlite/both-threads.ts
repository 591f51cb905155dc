/**
 * A few writes at a time on the caller's thread (near), everything else on the worker (far): two connections to one
 * file, each atomic by itself, like two processes. Near is only used while nothing is on its way to far, while it does
 * not have to read much that far has written, and while the disk is quick. Whatever takes long, such as sealing,
 * copying the log back, purging and listing, is done far away.
 */
import { statSync } from 'node:fs'
import { callerThread } from './caller-thread.js'
import type { DeskSettings } from './desk.js'
import type { Answered, Thread } from './thread.js'
import type { Verb, Verbs } from './verbs.js'
import { workerThread } from './worker-thread.js'

/** So many rows in one call are few. */
const FEW = 4
/** So many such calls in a row, and the caller is a lone one. */
const LONE = 16
/** Near reads what far has written; more than this it gets as a copy. */
const MOST_BEHIND = 256
/** A smaller file is read at once: a program that makes a few calls never starts the worker. */
const SMALL_BYTES = 16 * 1_024 * 1_024
/** Commits that stall the loop for longer are sent far away. */
const SLOW_MS = 1
/** What the last call weighs in the average, and the most that a single one counts for. */
const WEIGHT = 0.05
const WORST_MS = 5
const FIRST_REST_MS = 100
const LONGEST_REST_MS = 10_000
const TIDY_EVERY = 400

const FAR_ONLY: ReadonlySet<Verb> = new Set<Verb>(['purge', 'scan', 'audit', 'tidy', 'copy'])

export function bothThreads(settings: DeskSettings): Thread {
  const far = workerThread(settings)
  const near = callerThread({ ...settings, untidy: true })
  /** Rows that near would have to read first; as good as endless where it has not looked into a large file. */
  let behind = isSmall(settings.file) ? 0 : Number.POSITIVE_INFINITY
  let farAway = 0
  let inARow = 0
  let fetching: Promise<void> | undefined
  let untilTidy = TIDY_EVERY
  const disk = watchDisk()

  async function callFar<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']> {
    farAway++
    if (Array.isArray(input)) behind += input.length
    try {
      return await far.call(verb, input)
    } finally {
      farAway--
    }
  }

  /** Far answers in order: what it writes from here on is not in the copy. */
  async function fetchCopy(): Promise<void> {
    const before = behind
    behind = 0
    try {
      near.learn(await callFar('copy', null))
    } catch {
      // The next lone caller asks again.
      behind += before
      inARow = 0
    } finally {
      fetching = undefined
    }
  }

  function mayBeNear(verb: Verb, input: unknown): boolean {
    const isFew = !FAR_ONLY.has(verb) && (!Array.isArray(input) || input.length <= FEW)
    inARow = isFew ? inARow + 1 : 0
    if (!isFew || farAway > 0 || disk.isSlow()) return false
    if (behind <= MOST_BEHIND) return true
    if (inARow >= LONE) fetching ??= fetchCopy()
    return false
  }

  function callNear<V extends Verb>(verb: V, input: Verbs[V]['in']): Answered<V> {
    const startMs = performance.now()
    const ended = (): void => {
      behind = 0
      disk.took(performance.now() - startMs)
      if (--untilTidy <= 0 || near.isUntidy()) tidy()
    }
    let answer: Answered<V> | undefined
    try {
      answer = near.call(verb, input)
    } finally {
      if (!(answer instanceof Promise)) ended()
    }
    return answer instanceof Promise ? answer.finally(ended) : answer
  }

  function tidy(): void {
    untilTidy = TIDY_EVERY
    callFar('tidy', null).catch(() => {
      // It is only late: far does it with its next call.
    })
  }

  return {
    kind: 'auto',
    call: (verb, input) => (mayBeNear(verb, input) ? callNear(verb, input) : callFar(verb, input)),
    async close() {
      await fetching
      await near.close()
      await far.close()
    },
  }
}

/** Slow: the last calls took more than a millisecond on average. Then it is asked again after a while that doubles. */
function watchDisk(): { isSlow(): boolean; took(ms: number): void } {
  let averageMs = 0
  let restMs = FIRST_REST_MS
  let restUntilMs = 0
  return {
    isSlow: () => performance.now() < restUntilMs,
    took(ms) {
      averageMs += (Math.min(ms, WORST_MS) - averageMs) * WEIGHT
      if (averageMs < SLOW_MS) {
        if (ms < SLOW_MS) restMs = FIRST_REST_MS
        return
      }
      restUntilMs = performance.now() + restMs
      restMs = Math.min(restMs * 2, LONGEST_REST_MS)
      averageMs = 0
    },
  }
}

/** What cannot be looked at is not told here: the first call says what is wrong with it, and what to do. */
function isSmall(file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) < SMALL_BYTES
  } catch {
    return true
  }
}

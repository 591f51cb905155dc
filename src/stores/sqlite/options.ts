/** What a user can say about the store beside its file. A wait that never ends is refused, and a bound that is none. */
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { within } from '../../core/within.js'
import type { DeskSettings } from './desk.js'
import type { ThreadKind } from './thread.js'

export interface SqliteOptions {
  /** How long a call waits for the lock of another writer before it is refused. Default 5 000. */
  readonly busyMs?: number
  /** The most that the file may grow to; writes that need more are refused. Default: as far as the disk goes. */
  readonly maxBytes?: number
  /** Milliseconds added to this computer's clock, for tests: one number on a SharedArrayBuffer. */
  readonly clockOffset?: Float64Array
  /**
   * Where commits wait for the disk. Default `auto`: a worker thread for a crowd; the caller's own thread, which stands
   * still for that time, for a few writes at a time and while the disk answers within a millisecond.
   */
  readonly thread?: ThreadKind
  /** How many receipts are sealed together, for tests. */
  readonly generationSize?: number
}

const KNOWN = [
  'busyMs',
  'maxBytes',
  'clockOffset',
  'thread',
  'generationSize',
] satisfies (keyof SqliteOptions)[]
const BUSY_MS = 5_000
const A_DAY_MS = 86_400_000
const THREADS: readonly ThreadKind[] = ['auto', 'worker', 'caller']

export function readOptions(file: string, options: SqliteOptions): DeskSettings {
  onlyKnown(options, KNOWN, 'sqliteStore')
  const { busyMs = BUSY_MS, maxBytes, clockOffset, thread = 'auto', generationSize } = options
  within(busyMs, 'busyMs', 0, A_DAY_MS)
  if (maxBytes !== undefined) within(maxBytes, 'maxBytes', 1, Number.MAX_SAFE_INTEGER)
  if (generationSize !== undefined) within(generationSize, 'generationSize', 1, Number.MAX_SAFE_INTEGER)
  if (!THREADS.includes(thread)) {
    throw invalidIntent(
      `options.thread is ${JSON.stringify(thread)}`,
      `give thread one of ${THREADS.join(', ')}`,
    )
  }
  return { file, busyMs, maxBytes, clockOffset, generationSize }
}

/** One run in the hands of this worker, and what its steps keep. */
import type { Ibid } from '../../ibid.js'
import type { Link } from './chain.js'
import type { RunTerms } from './terms.js'
import type { Timers } from './timers.js'

export interface ActiveRun {
  readonly ibid: Ibid
  readonly timers: Timers
  readonly runId: string
  readonly tenant: string
  readonly agent: string
  readonly terms: RunTerms
  readonly signal: AbortSignal
  /** Aborts too when this worker closes: a run that only waits is left to another. */
  readonly waiting: AbortSignal
  readonly chain: readonly Link[]
  /** The store's clock, as far as this attempt knows it. */
  storeNow(): number
}

/** What a step's receipt keeps. */
export interface StepRecord<T> {
  readonly name: string
  readonly value: T
}

/** One run in the hands of this worker, and what its steps keep. */
import type { Policy } from '../../core/policy.js'
import type { Ibid } from '../../ibid.js'
import type { Link } from './chain.js'
import type { Ends } from './ends.js'
import type { RunTerms } from './terms.js'

export interface ActiveRun {
  readonly ibid: Ibid
  readonly runId: string
  readonly tenant: string
  readonly stepScope: string
  readonly agent: string
  readonly terms: RunTerms
  /** Of a step that says nothing else. */
  readonly stepPolicy: Policy<never>
  /** Its signal is that of the run. */
  readonly stopped: Ends['stopped']
  /** Throws when no step may begin any more: the run was stopped, or this attempt at it is over. */
  mustGoOn(): void
  readonly chain: readonly Link[]
  /** The store's clock, as far as this attempt knows it. */
  storeNow(): number
  /** The latest instant to which it may sleep: its steps are kept for as long. */
  readonly latestWakeMs: number
  /** A sleep, which uses up no time of this attempt. It is cut short when this worker closes: another goes on. */
  pause(ms: number, inStep: boolean): Promise<void>
  /** What uses up the time of this attempt, also while the run sleeps beside it. Rejects with what `step` throws. */
  atWork<T>(step: () => Promise<T>): Promise<T>
}

/** What a step's receipt keeps. */
export interface StepRecord<T> {
  readonly name: string
  readonly value: T
}

/** What the parts of one `createRuns` share. */
import type { UnderWay } from '../../core/under-way.js'
import type { Ibid } from '../../ibid.js'
import type { Admission } from './admission.js'
import type { Agents } from './agents.js'
import type { RunPolicy, RunTerms } from './terms.js'
import type { Timers } from './timers.js'

/** A run that this process is at work on. */
export interface AtWork {
  readonly tenant: string
  readonly agent: string
  readonly runId: string
  /** Ends it: aborts its signal with `reason`. */
  stop(reason: Error): void
  /** Leaves it to another worker where it only waits. */
  handOver(): void
}

export interface Desk {
  readonly ibid: Ibid
  readonly timers: Timers
  readonly terms: RunTerms
  /** What its terms were read from: it holds where an agent, a tick or a call declares nothing else. */
  readonly policy: RunPolicy | undefined
  readonly admission: Admission
  readonly agents: Agents
  /** By the address of the run's receipt. */
  readonly atWork: UnderWay<string, AtWork>
  readonly isClosing: () => boolean
  /** Whatever runs a run, however it came about: closing waits for it. */
  counted<T>(work: Promise<T>): Promise<T>
}

export function atWorkId({ tenant, scope, key }: { tenant: string; scope: string; key: string }): string {
  return JSON.stringify([tenant, scope, key])
}

/** The types of traces.mjs, for the tests. */
export interface ModelReceipt {
  readonly state: 'absent' | 'pending' | 'released' | 'succeeded' | 'failed' | 'unknown'
  readonly token: number
  readonly attempt: number
  readonly ended: boolean
  /** A rank: 1 for the first epoch of the run. */
  readonly epoch: number
}

export interface Step {
  /** A worker; for steps in the background of a call, the call; 20 sweeps, 21 is a person, 22 the world. */
  readonly who: number
  readonly what: string
  readonly how: string
  readonly receipt: ModelReceipt
  readonly line: string
}

export interface Trace {
  readonly seed: number
  readonly policy: 'hold' | 'retry' | 'check'
  readonly workers: number
  readonly calls: number
  readonly maxAttempts: number
  readonly violated: string | undefined
  readonly steps: readonly Step[]
}

export function traces(seeds: Iterable<number>, lanes?: number): AsyncGenerator<Trace>

/**
 * Points at which a worker stands still until a schedule lets it go on. A worker that crashed stands still for good.
 */
export interface Parked {
  readonly worker: number
  readonly label: string
  /** After: the store has done it, the answer is on its way. */
  readonly after: boolean
  go(how: 'on' | 'lost'): void
}

export interface Gates {
  /** In the order in which they got there. */
  readonly parked: readonly Parked[]
  /** Resolves when the schedule says so; rejects where it says that the answer is lost. */
  pass(worker: number, label: string, after?: 'after'): Promise<void>
  crash(worker: number): void
  hasCrashed(worker: number): boolean
}

export function createGates(): Gates {
  let parked: Parked[] = []
  const crashed = new Set<number>()
  return {
    get parked() {
      return parked
    },
    pass(worker, label, after) {
      return new Promise((resolve, reject) => {
        if (crashed.has(worker)) return
        const one: Parked = {
          worker,
          label,
          after: after === 'after',
          go(how) {
            parked = parked.filter((other) => other !== one)
            if (how === 'on') resolve()
            else reject(new TypeError(`the answer of ${label} was lost`))
          },
        }
        parked.push(one)
      })
    },
    crash(worker) {
      crashed.add(worker)
      parked = parked.filter((one) => one.worker !== worker)
    },
    hasCrashed: (worker) => crashed.has(worker),
  }
}

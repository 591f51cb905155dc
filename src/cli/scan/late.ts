/** Attempts that finished after they had lost their lease, and keys that came with another payload. */
import { createTally, type Detector } from './finding.js'

export function late(): Detector {
  const finished = createTally('finished-late', 'error')
  const reused = createTally('key-reused', 'warning')
  return {
    see(event) {
      const { key, at, attempt, count } = event
      if (event.event === 'stale') finished.add(event, { key, attempt, at }, count)
      else if (event.event === 'conflict') reused.add(event, { key, at, times: count }, count)
    },
    findings: () => [
      ...finished.findings(({ count, scope }) => ({
        message: `${count} attempts of ${scope} finished after another had taken over: the effect may have happened twice`,
        remedy:
          'look the keys up downstream; make the lease longer than the effect takes, and hand the key or the epoch down',
      })),
      ...reused.findings(({ count, scope }) => ({
        message: `${count} calls of ${scope} came with a key that belongs to another payload; none of them was executed`,
        remedy:
          'the key says too little, or a field that changes from retry to retry counts as part of the intent: scan recorded calls to see which',
      })),
    ],
  }
}

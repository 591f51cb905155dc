/**
 * Restarts. Between two calls: what was done stays known. In the middle of a call, after its effect and before
 * its answer: the retry may get the result or be told that the outcome is unknown; it may not do the effect
 * again, and it may not be told for ever that somebody is still at it.
 */
import type { Bench } from '../bench.js'
import { effectSeen } from '../effect-seen.js'
import { type Property, stuckOrBroken } from '../property.js'
import { type Finding, judged, miscounted, notTested } from '../verdict.js'

const TRIES = 5

export const restartBetween: Property = {
  id: 'restart-between',
  about: 'a restart between two calls: the second is still a duplicate',
  async test(bench) {
    if (!bench.target.restart) return notTested('no way to restart it: give --restart')
    const effects = await bench.counting()
    const order = { key: bench.newKey(), payload: 'plain' } as const
    const first = await bench.persist(order)
    bench.journal.say('restart')
    await bench.target.restart()
    const again = await bench.persist(order)
    const count = await effects()
    return judged(
      [
        miscounted(count, 1, '1 key'),
        first.kind !== 'done' && `the first call got ${first.said}`,
        again.kind !== 'done' && `after the restart, the retry got ${again.said}`,
      ],
      count,
    )
  },
}

export const restartInTheMiddle: Property = {
  id: 'restart-in-the-middle',
  about: 'a restart between the effect and its answer: not done again, and not stuck',
  async test(bench) {
    if (!bench.target.restart) return notTested('no way to restart it: give --restart')
    if (!bench.hasProbe) return notTested('there is no probe to tell when the effect has happened')
    for (let round = 0; round < TRIES; round++) {
      const finding = await interrupted(bench)
      if (finding) return finding
    }
    return notTested(
      `it answers before it can be interrupted: give --slow-${bench.target.payloadName}, which waits after its effect`,
    )
  },
}

/** Undefined: the answer came before the effect was seen. */
async function interrupted(bench: Bench): Promise<Finding | undefined> {
  const payload = bench.payloads.slow === undefined ? 'plain' : 'slow'
  const order = { key: bench.newKey(), payload } as const
  const effects = await bench.counting()
  const before = await bench.peek()
  const first = bench.call(order)
  if (!(await effectSeen(bench, before, first))) return undefined
  bench.journal.say('the effect has happened: restart')
  await bench.target.restart?.()
  // One that answered after all was not interrupted.
  if ((await first).kind === 'done') return undefined
  const retry = await bench.persist(order)
  const count = await effects()
  return judged(
    [
      count !== undefined && count > 1 && `${count} effects for 1 key: it was done again after the restart`,
      stuckOrBroken(retry, bench.terms.patienceMs),
    ],
    count,
    `the retry got ${retry.said}`,
  )
}

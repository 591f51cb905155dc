/**
 * A call that fails, and is tried again. If the effect had happened before the failure it must not happen again;
 * and a failure that was answered must not leave the key in use for ever.
 */
import { type Property, stuckOrBroken } from '../property.js'
import { judged, notTested } from '../verdict.js'

export const retryAfterFailure: Property = {
  id: 'retry-after-failure',
  about: 'a retry after a failure: at most one effect, and not stuck',
  async test(bench) {
    if (bench.payloads.failing === undefined) {
      return notTested(`no payload that fails: give --failing-${bench.target.payloadName}`)
    }
    const effects = await bench.counting()
    const order = { key: bench.newKey(), payload: 'failing' } as const
    const first = await bench.call(order)
    if (first.kind === 'done') return notTested(`the failing payload did not fail: it got ${first.said}`)
    const retry = await bench.persist(order)
    const count = await effects()
    return judged(
      [
        count !== undefined && count > 1 && `${count} effects for 1 key`,
        // The same failure again is a replay of it.
        retry.said !== first.said && stuckOrBroken(retry, bench.terms.patienceMs),
        retry.kind === 'lost' && 'the retry got no answer',
      ],
      count,
      `the retry got ${retry.said}`,
    )
  },
}

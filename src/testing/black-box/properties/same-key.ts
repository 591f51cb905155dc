/** The plainest duplicate: the same call again, after the first was answered. */
import type { Property } from '../property.js'
import { judged, miscounted } from '../verdict.js'

export const sameKeyTwice: Property = {
  id: 'same-key-twice',
  about: 'the same call twice: one effect, and both callers get the result',
  async test(bench) {
    const effects = await bench.counting()
    const order = { key: bench.newKey(), payload: 'plain' } as const
    const first = await bench.persist(order)
    const again = await bench.persist(order)
    const count = await effects()
    return judged(
      [
        miscounted(count, 1, '1 key'),
        first.kind !== 'done' && `the first call got ${first.said}`,
        again.kind !== 'done' && `the retry got ${again.said}`,
      ],
      count,
    )
  },
}

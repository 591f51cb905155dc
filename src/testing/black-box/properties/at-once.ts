/** Many callers with one key in the same moment. Each comes back when it is told to, and must get the one result. */
import type { Property } from '../property.js'
import { judged, miscounted } from '../verdict.js'

export const manyAtOnce: Property = {
  id: 'many-at-once',
  about: 'the same call many times at once: one effect, and one result for all',
  async test(bench) {
    const { atOnce } = bench.terms
    const effects = await bench.counting()
    const payload = bench.payloads.slow === undefined ? 'plain' : 'slow'
    const order = { key: bench.newKey(), payload } as const
    const answers = await Promise.all(Array.from({ length: atOnce }, async () => await bench.persist(order)))
    const count = await effects()
    const done = answers.filter(({ kind }) => kind === 'done')
    const others = [...new Set(answers.filter(({ kind }) => kind !== 'done').map(({ said }) => said))]
    const results = new Set(done.map(({ said, body }) => `${said} ${body}`)).size
    return judged(
      [
        miscounted(count, 1, '1 key'),
        results > 1 && `the callers got ${results} different answers`,
        others.length > 0 && `${atOnce - done.length} of ${atOnce} callers got ${others.join(', ')}`,
      ],
      count,
    )
  },
}

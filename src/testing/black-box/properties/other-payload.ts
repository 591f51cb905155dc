/**
 * One key, two meanings. Whatever comes second must be told so: a replay would be the answer to another question,
 * and an execution would give one key two effects. Also while the first is still running, where a check of what
 * is stored finds nothing yet. A refusal shows that only where the same payload is taken under a key of its own.
 */
import type { Bench } from '../bench.js'
import type { Property } from '../property.js'
import type { Answer } from '../target.js'
import { type Finding, judged, miscounted, notTested } from '../verdict.js'

const ROUNDS = 4

export const otherPayloadAfter: Property = {
  id: 'other-payload-after',
  about: 'another payload under a key that was used: refused, neither replayed nor executed',
  async test(bench) {
    const unfit = await unfitOther(bench)
    if (unfit) return unfit
    const effects = await bench.counting()
    const key = bench.newKey()
    const first = await bench.persist({ key, payload: 'plain' })
    const other = await bench.persist({ key, payload: 'other' })
    const again = await bench.persist({ key, payload: 'plain' })
    const count = await effects()
    return judged(
      [
        miscounted(count, 1, '1 key'),
        first.kind !== 'done' && `the first call got ${first.said}`,
        other.kind === 'done' &&
          `the other payload got ${other.said}${other.body === first.body ? ', the result of the first' : ''}`,
        isNoRefusal(other) && `the other payload got ${other.said} instead of a refusal`,
        again.kind !== 'done' && `after that, a retry of the first payload got ${again.said}`,
      ],
      count,
    )
  },
}

export const otherPayloadDuring: Property = {
  id: 'other-payload-during',
  about: 'another payload while the first runs: one of them is done, the other is refused',
  async test(bench) {
    const unfit = await unfitOther(bench)
    if (unfit) return unfit
    const effects = await bench.counting()
    const first = bench.payloads.slow === undefined ? 'plain' : 'slow'
    let accepted = 0
    let neither = 0
    const broken = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const key = bench.newKey()
      const answers = await Promise.all([
        bench.persist({ key, payload: first }),
        bench.persist({ key, payload: 'other' }),
      ])
      const done = answers.filter(({ kind }) => kind === 'done').length
      if (done === 2) accepted++
      if (done === 0) neither++
      for (const answer of answers) if (isNoRefusal(answer)) broken.add(answer.said)
    }
    const count = await effects()
    return judged(
      [
        miscounted(count, ROUNDS, `${ROUNDS} keys`),
        accepted > 0 && `both payloads were accepted under one key, in ${accepted} of ${ROUNDS} rounds`,
        neither > 0 && `neither payload was accepted, in ${neither} of ${ROUNDS} rounds`,
        broken.size > 0 && `one of the callers got ${[...broken].join(', ')} instead of a refusal`,
      ],
      count,
    )
  },
}

function isNoRefusal({ kind }: Answer): boolean {
  return kind === 'failed' || kind === 'lost' || kind === 'wait'
}

/** Undefined: there is another payload, and nothing is wrong with it but the key. */
async function unfitOther(bench: Bench): Promise<Finding | undefined> {
  const flag = `--other-${bench.target.payloadName}`
  if (bench.payloads.other === undefined) return notTested(`no other payload: give ${flag}`)
  const alone = await bench.persist({ key: bench.newKey(), payload: 'other' })
  if (alone.kind === 'done') return undefined
  return notTested(
    `the other payload got ${alone.said} under a key of its own too: give ${flag}, one that is accepted`,
  )
}

/** Who is calling: a client that says it is a replay is a client, and another caller's key is another key. */
import type { Property } from '../property.js'
import { judged, miscounted, notTested } from '../verdict.js'

export const claimedReplay: Property = {
  id: 'claimed-replay',
  about: 'a first call that says it is a replay: done like any other',
  async test(bench) {
    if (!bench.target.roles.includes('spoofing')) return notTested('only HTTP has headers that can claim it')
    const effects = await bench.counting()
    const answer = await bench.persist({ key: bench.newKey(), payload: 'plain', as: 'spoofing' })
    const count = await effects()
    return judged([miscounted(count, 1, '1 key'), answer.kind !== 'done' && `it got ${answer.said}`], count)
  },
}

export const otherCaller: Property = {
  id: 'other-caller',
  about: 'the same key from another caller: never the first caller’s answer',
  async test(bench) {
    if (!bench.target.roles.includes('other')) return notTested('no other caller: give --other-header')
    const effects = await bench.counting()
    const key = bench.newKey()
    const mine = await bench.persist({ key, payload: 'plain' })
    const theirs = await bench.persist({ key, payload: 'plain', as: 'other' })
    const count = await effects()
    return judged(
      [
        mine.kind !== 'done' && `the first caller got ${mine.said}`,
        theirs.kind === 'done' && count === 1 && 'another caller got the first caller’s answer',
        (theirs.kind === 'failed' || theirs.kind === 'lost') && `the other caller got ${theirs.said}`,
        count !== undefined && count > 2 && `${count} effects for 2 callers`,
      ],
      count,
      theirs.kind === 'done' ? 'it is a key of its own' : `the other caller got ${theirs.said}`,
    )
  },
}

/**
 * Calls without a key. They may be refused, or be recognised by what they say; a second effect is a fault unless
 * keys are meant to be optional. Two different calls without a key are never one.
 */
import { isBroken, type Property } from '../property.js'
import { judged } from '../verdict.js'

export const keyMissing: Property = {
  id: 'key-missing',
  about: 'a call without a key: refused, or still done once; never taken for another one',
  async test(bench) {
    const order = { key: undefined, payload: 'plain' } as const
    const twice = await bench.counting()
    const first = await bench.call(order)
    const again = await bench.call(order)
    const count = await twice()
    const faults = [
      !bench.terms.keyOptional &&
        count !== undefined &&
        count > 1 &&
        `${count} effects for the same call twice without a key`,
      [first, again].some(isBroken) && `a call without a key got ${[first, again].find(isBroken)?.said}`,
    ]
    if (bench.payloads.other === undefined) return judged(faults, count)
    const more = await bench.counting()
    const other = await bench.call({ key: undefined, payload: 'other' })
    const added = await more()
    const isRefused = first.kind === 'done' && other.kind === 'refused'
    const isFit =
      isRefused && (await bench.persist({ key: bench.newKey(), payload: 'other' })).kind === 'done'
    return judged(
      [
        ...faults,
        other.kind === 'done' &&
          added === 0 &&
          'another payload without a key was answered without an effect: it was taken for the first',
        isFit &&
          `another payload without a key got ${other.said}, and with one it is done: it was taken for the first`,
      ],
      count,
      first.kind === 'refused' ? `refused with ${first.said}` : undefined,
    )
  },
}

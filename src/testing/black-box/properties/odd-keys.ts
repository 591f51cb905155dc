/**
 * Keys at the edge: long ones that differ only at their end, and ones that are not what a key should look like.
 * Each is either refused, with nothing done, or is a key like any other. Cutting one off, ignoring it, or
 * breaking on it is neither.
 */
import type { Bench } from '../bench.js'
import { isBroken, type Property } from '../property.js'
import { type Finding, judged } from '../verdict.js'

const LENGTHS = [255, 256, 2_000]

export const longKey: Property = {
  id: 'long-key',
  about: 'long keys: refused, or told apart to their last character',
  async test(bench) {
    const pairs = LENGTHS.map((length) => {
      const start = `${bench.newKey()}-`.padEnd(length - 1, 'x')
      return [`of ${length} characters`, `${start}a`, `${start}b`] as const
    })
    return await apart(bench, pairs)
  },
}

export const oddKey: Property = {
  id: 'odd-key',
  about: 'malformed and unusual keys: refused, or honoured as they are',
  async test(bench) {
    const start = bench.newKey()
    const pairs = [
      ['that differ by case', `${start}-key`, `${start}-KEY`],
      ['with a quotation mark', `"${start}`, `${start}"`],
      ['with spaces', `${start} a b`, `${start} a  b`],
      ['with a comma', `${start}, a`, `${start}, b`],
      ['with a percent sign', `${start}%61`, `${start}a`],
      ['with letters that are not ASCII', `${start}-\u00fc`, `${start}-\u00e4`],
      ['with an accent in two forms', `${start}-\u00e9`, `${start}-e\u0301`],
      ['with a control character', `${start}\u0000a`, `${start}\u0000b`],
      ['with half a surrogate pair', `${start}\ud800`, `${start}\ud801`],
    ] as const
    const sendable = pairs.filter(([, one, other]) => [one, other].every(bench.target.canCarry))
    return await apart(bench, sendable)
  },
}

type Pair = readonly [kind: string, one: string, other: string]

async function apart(bench: Bench, pairs: readonly Pair[]): Promise<Finding> {
  const faults: (string | undefined)[] = []
  let refused = 0
  for (const [kind, one, other] of pairs) {
    const twice = await bench.counting()
    const first = await bench.persist({ key: one, payload: 'plain' })
    const again = await bench.persist({ key: one, payload: 'plain' })
    const count = await twice()
    const more = await bench.counting()
    const last = await bench.persist({ key: other, payload: 'plain' })
    const added = await more()
    const broken = [first, again, last].find(isBroken)
    const stuck = [first, again, last].find((answer) => answer.kind === 'wait')
    if (broken) faults.push(`a key ${kind} got ${broken.said}`)
    if (stuck) faults.push(`a key ${kind} was told to come back (${stuck.said}), and nothing else`)
    if (first.kind === 'done' && again.kind === 'refused' && (await isRetryDone(bench)))
      faults.push(`a key ${kind} was accepted, and its retry got ${again.said}`)
    if (count !== undefined && count > 1) faults.push(`${count} effects for 1 key ${kind}: it was ignored`)
    if (last.kind === 'done' && first.kind === 'done' && added === 0) {
      faults.push(`two keys ${kind} were taken for one`)
    }
    if (first.kind !== 'refused') continue
    refused++
    if (count !== undefined && count > 0) faults.push(`a key ${kind} was refused, and the effect happened`)
  }
  const note = refused === 0 ? undefined : `${refused} of ${pairs.length} kinds are refused`
  return judged(faults, bench.hasProbe ? 0 : undefined, note)
}

/** Of a plain key. Where that is refused as well, nothing is wrong with the others. */
async function isRetryDone(bench: Bench): Promise<boolean> {
  const order = { key: bench.newKey(), payload: 'plain' } as const
  await bench.persist(order)
  return (await bench.persist(order)).kind === 'done'
}

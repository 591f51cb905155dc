/**
 * A replay is the first answer again: status, content type, body, byte for byte. Whether it is marked is told,
 * not judged.
 */
import type { Property } from '../property.js'
import { shown } from '../journal.js'
import type { Answer } from '../target.js'
import { type Finding, notTested } from '../verdict.js'

const MARK = /replay|idempot|(^|-)hit$|cache|dup/i

export const replayFidelity: Property = {
  id: 'replay-fidelity',
  about: 'a replay has the status, content type and bytes of the first answer',
  async test(bench): Promise<Finding> {
    const effects = await bench.counting()
    const order = { key: bench.newKey(), payload: 'plain' } as const
    const first = await bench.persist(order)
    const again = await bench.persist(order)
    if (first.kind !== 'done' || again.kind !== 'done') {
      return notTested(`there was no replay: ${first.said}, then ${again.said}`)
    }
    const faults = [
      first.said !== again.said && `${first.said} became ${again.said}`,
      first.contentType !== again.contentType &&
        `content type ${first.contentType ?? 'none'} became ${again.contentType ?? 'none'}`,
      first.body !== again.body && `the body became ${shown({ ...again, said: '' }).trim() || 'empty'}`,
    ].filter((fault) => typeof fault === 'string')
    if (faults.length > 0) return { verdict: 'violated', saw: faults.join('; ') }
    const count = await effects()
    if (count !== undefined && count > 1) return notTested(`there was no replay: ${count} effects for 1 key`)
    const mark = markOf(first, again)
    return { verdict: 'held', note: mark === undefined ? 'replays are not marked' : `marked by ${mark}` }
  },
}

function markOf(first: Answer, again: Answer): string | undefined {
  const found = Object.entries(again.facts).find(
    ([name, value]) => MARK.test(name) && first.facts[name] !== value,
  )
  return found && `${found[0]}: ${found[1].slice(0, 60)}`
}

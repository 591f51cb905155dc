/**
 * The report for people: a line a property, then what was seen where one was violated, with the calls that show
 * it.
 */
import type { CheckReport, Verdict } from '../../testing/index.js'
import { type Colour, paint } from '../paint.js'
import { safe } from '../text.js'

const MARKS: Readonly<Record<Verdict['verdict'], Colour>> = {
  held: 'green',
  violated: 'red',
  'not tested': 'yellow',
}
const WIDTH = 'not tested'.length

export function reportText({ target, verdicts, held, violated, notTested }: CheckReport): string {
  const lines = verdicts.map(line).join('')
  const sum = [`${held} held`, `${violated} violated`, `${notTested} not tested`].join(', ')
  return `${safe(target)}\n\n${lines}\n${paint(sum, violated > 0 ? 'red' : held > 0 ? 'green' : 'yellow')}\n`
}

function line(verdict: Verdict): string {
  const mark = paint(verdict.verdict.padEnd(WIDTH), MARKS[verdict.verdict])
  const head = `${mark}  ${verdict.property}: ${verdict.about}\n`
  const under = (text: string): string => `${' '.repeat(WIDTH)}  ${text}\n`
  if (verdict.verdict === 'held') {
    return verdict.note === undefined ? head : head + under(paint(safe(verdict.note), 'dim'))
  }
  if (verdict.verdict === 'not tested') return head + under(paint(safe(verdict.why), 'dim'))
  const calls = verdict.sequence.map((call, at) => under(paint(`  ${at + 1}. ${safe(call)}`, 'dim')))
  return head + under(paint(safe(verdict.saw), 'bold')) + calls.join('')
}

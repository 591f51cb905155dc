/** Where in a payload something is, in the words of an error: `payload.items[2].amount`. */

export type Segment = string | number

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/
const LONGEST_NAME = 60
const LONGEST = 200

export function placeOf(trail: readonly Segment[]): string {
  const text = `payload${trail.map(segmentText).join('')}`
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST / 2)}…${text.slice(-LONGEST / 2)}`
}

function segmentText(segment: Segment): string {
  if (typeof segment === 'number') return `[${segment}]`
  if (PLAIN_NAME.test(segment) && segment.length <= LONGEST_NAME) return `.${segment}`
  const shown = segment.length <= LONGEST_NAME ? segment : `${segment.slice(0, LONGEST_NAME)}…`
  return `[${JSON.stringify(shown)}]`
}

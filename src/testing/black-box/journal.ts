/** The requests that a property made, in the words of its report: short, and in the order in which they were made. */
import type { Answer } from './target.js'

export interface Journal {
  /** A call that has begun; what is returned ends it. */
  open(what: string): (answer: Answer, tries: number) => void
  say(line: string): void
  /** Calls of one kind that were under way together are told as one. */
  lines(): readonly string[]
}

interface Entry {
  readonly what: string
  readonly outcomes: string[]
  calls: number
  running: number
}

const SHOWN = 80
const MOST_OUTCOMES = 3
const MOST_LINES = 24

export function journal(): Journal {
  const entries: Entry[] = []
  return {
    open(what) {
      const last = entries.at(-1)
      const isTogether = last !== undefined && last.what === what && last.running > 0
      const entry = isTogether ? last : { what, outcomes: [], calls: 0, running: 0 }
      if (!isTogether) entries.push(entry)
      entry.calls++
      entry.running++
      return (answer, tries) => {
        entry.running--
        entry.outcomes.push(tries > 1 ? `${shown(answer)} (after ${tries} tries)` : shown(answer))
      }
    },
    say(line) {
      entries.push({ what: line, outcomes: [], calls: 0, running: 0 })
    },
    lines() {
      const lines = entries.map(lineOf)
      const more = lines.length - MOST_LINES
      return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more`] : lines
    },
  }
}

export function shown(answer: Answer): string {
  const body = answer.body.length > SHOWN ? `${answer.body.slice(0, SHOWN)}…` : answer.body
  return body === '' ? answer.said : `${answer.said} ${body}`
}

function lineOf({ what, outcomes, calls }: Entry): string {
  if (calls === 0) return what
  const different = [...new Set(outcomes)]
  const more = different.length - MOST_OUTCOMES
  const told = different.slice(0, MOST_OUTCOMES).join(', ') || 'no answer yet'
  const rest = more > 0 ? `, and ${more} other answers` : ''
  return `${calls === 1 ? '' : `${calls} × `}${what} → ${told}${rest}`
}

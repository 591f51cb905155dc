/** The requests that a property made, in the words of its report: short, and in the order in which they were made. */
import type { Answer } from './target.js'

export interface Journal {
  /** A line that waits for its end; `times` identical ones are told as one. */
  open(what: string): (answer: Answer, tries: number) => void
  say(line: string): void
  lines(): readonly string[]
}

const SHOWN = 80
/** A storm is told by its first lines and a count. */
const MOST_LINES = 24

export function journal(): Journal {
  const entries: { what: string; outcome: string }[] = []
  return {
    open(what) {
      const entry = { what, outcome: 'no answer yet' }
      entries.push(entry)
      return (answer, tries) => {
        entry.outcome = outcomeOf(answer, tries)
      }
    },
    say(line) {
      entries.push({ what: line, outcome: '' })
    },
    lines() {
      const counted = new Map<string, number>()
      for (const { what, outcome } of entries) {
        const line = outcome === '' ? what : `${what} → ${outcome}`
        counted.set(line, (counted.get(line) ?? 0) + 1)
      }
      const lines = [...counted].map(([line, times]) => (times === 1 ? line : `${times} × ${line}`))
      const more = lines.length - MOST_LINES
      return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more`] : lines
    },
  }
}

export function shown(answer: Answer): string {
  const body = answer.body.length > SHOWN ? `${answer.body.slice(0, SHOWN)}…` : answer.body
  return body === '' ? answer.said : `${answer.said} ${body}`
}

function outcomeOf(answer: Answer, tries: number): string {
  return tries > 1 ? `${shown(answer)} (after ${tries} tries)` : shown(answer)
}

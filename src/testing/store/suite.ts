/** How the suite's tests are written down: a subject, and named cases that get a bench. */
import type { Bench } from './bench.js'

export interface Case {
  readonly name: string
  readonly run: (bench: Bench) => Promise<void>
}

export interface Subject {
  readonly subject: string
  readonly cases: readonly Case[]
}

export function subject(name: string, cases: Readonly<Record<string, Case['run']>>): Subject {
  return { subject: name, cases: Object.entries(cases).map(([title, run]) => ({ name: title, run })) }
}

/** What a command has to say: one JSON document for machines, or text for people; never both. */
import { scrub } from './secrets.js'

export interface Printed {
  readonly json: unknown
  /** Made only when it is wanted. */
  readonly text: () => string
}

export function print(asJson: boolean | undefined, { json, text }: Printed): void {
  process.stdout.write(scrub(asJson ? `${JSON.stringify(json, undefined, 2)}\n` : text()))
}

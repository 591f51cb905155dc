/** What a command has to say: one JSON document for machines, or text for people; never both. */
import { jsonWith, scrubUrls } from './secrets.js'

export interface Printed {
  readonly json: unknown
  /** Made only when it is wanted. */
  readonly text: () => string
}

export function print(asJson: boolean | undefined, { json, text }: Printed): void {
  process.stdout.write(asJson ? `${jsonWith(scrubUrls, json, 2)}\n` : scrubUrls(text()))
}

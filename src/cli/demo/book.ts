/**
 * An append-only file with a line for every effect. It is written by the service that has the effect, which no deploy
 * kills; so nothing waits for the disk here, and a slow one does not look like a slow service.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

export interface Line {
  readonly charge: string
  readonly atMs: number
  readonly [detail: string]: unknown
}

export interface Book {
  append(line: Line): void
  all(): readonly Line[]
}

export function openBook(file: string): Book {
  return {
    append: (line) => appendFileSync(file, `${JSON.stringify(line)}\n`),
    all() {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Line)
    },
  }
}

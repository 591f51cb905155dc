/**
 * What a test run did in all: processes started, processes killed, interleavings tried. Each event is one line in
 * the file named by IBID_TEST_TALLY, appended in one write so that processes can share it; without it, nothing.
 */
import { appendFileSync } from 'node:fs'

export interface TallyEvent {
  readonly processes?: number
  readonly kills?: number
  readonly interleavings?: number
}

export function tally(event: TallyEvent): void {
  const file = process.env['IBID_TEST_TALLY']
  if (file) appendFileSync(file, `${JSON.stringify(event)}\n`)
}

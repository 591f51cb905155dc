/** How a command ends that could not do its work: on stderr, for people or as JSON, with what to do about it. */
import { IbidError } from '../index.js'

export function fail(error: unknown, asJson: boolean): void {
  process.exitCode = 1
  if (asJson) {
    const shown = error instanceof IbidError ? error.toJSON() : { code: 'FAILED', message: messageOf(error) }
    process.stderr.write(`${JSON.stringify({ error: shown })}\n`)
    return
  }
  process.stderr.write(`ibid: ${messageOf(error)}\n`)
  if (error instanceof IbidError) process.stderr.write(`      ${error.action}\n`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

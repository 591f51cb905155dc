/** How a command ends that could not do its work: on stderr, for people or as JSON, with what to do about it. */
import { CommanderError } from 'commander'
import { IbidError } from '../index.js'
import { exitCodeOf } from './exit-codes.js'
import { jsonWith, scrub } from './secrets.js'
import { safe } from './text.js'

export function fail(error: unknown, asJson: boolean): void {
  process.exitCode = exitCodeOf(error)
  // Help and the version are no failures; commander has printed them.
  if (error instanceof CommanderError && (error.exitCode === 0 || !asJson)) return
  if (asJson) {
    process.stderr.write(`${jsonWith(scrub, { error: asData(error) })}\n`)
    return
  }
  process.stderr.write(`ibid: ${safe(scrub(messageOf(error)))}\n`)
  if (error instanceof IbidError) process.stderr.write(`      ${safe(scrub(error.action))}\n`)
}

function asData(error: unknown): object {
  if (error instanceof IbidError) return error.toJSON()
  if (error instanceof CommanderError) {
    return {
      code: 'USAGE',
      message: messageOf(error).replace(/^error: /, ''),
      action: 'ibid --help shows how it is used',
    }
  }
  return { code: 'FAILED', message: messageOf(error) }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

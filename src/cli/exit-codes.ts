/** What the exit code of a command says. Scripts depend on these: docs/cli.md lists them. */
import { CommanderError } from 'commander'
import { own } from '../core/own.js'
import { IbidError } from '../index.js'

export const EXIT = {
  done: 0,
  failed: 1,
  /** A flag, an argument or a file that was given is wrong. Nothing was done. */
  usage: 2,
  /** The command did its work, and what it found needs somebody. */
  findings: 3,
  /** There is no such receipt, or it is not in a state that allows this. */
  notThere: 4,
  /** The store does not answer, or is set up so that its promises do not hold. */
  store: 5,
} as const

const BY_CODE: Readonly<Record<string, number>> = {
  INVALID_INTENT: EXIT.usage,
  INVALID_ARGUMENTS: EXIT.usage,
  NOT_HELD: EXIT.notThere,
  NOT_FOUND: EXIT.notThere,
  STORE_UNAVAILABLE: EXIT.store,
  UNSAFE_STORE: EXIT.store,
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  return (error instanceof IbidError ? own(BY_CODE, error.code) : undefined) ?? EXIT.failed
}

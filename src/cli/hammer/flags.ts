/** The flags that the three kinds of targets share, and what they come to. */
import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import type { CheckOptions } from '../../testing/index.js'
import { durationMs, wholeNumber } from '../values.js'

export interface CommonFlags {
  readonly probe?: string
  readonly atOnce: number
  readonly patience: number
  readonly settle: number
  readonly answer: number
  readonly keyOptional?: true
  readonly only?: readonly string[]
  readonly skip?: readonly string[]
  readonly junit?: string
  readonly dryRun?: true
  readonly json?: true
}

/** A flag that may be given more than once. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((id) => id.trim())]
}

/** `--body` and its relatives, under the name that a payload has for this kind of target. */
export function payloadFlags(command: Command, name: string, form: string): Command {
  return command
    .option(`--${name} <${name}>`, `what is sent: ${form}`)
    .option(`--other-${name} <${name}>`, `one that means something else (default: made of --${name})`)
    .option(`--failing-${name} <${name}>`, 'one that fails, best after its effect')
    .option(`--slow-${name} <${name}>`, 'one that does its effect, and waits before it answers')
}

export function withCommonFlags(command: Command): Command {
  return command
    .option(
      '--probe <url|command|file#export>',
      'gives the number of effects so far; without it, few verdicts',
    )
    .option('--at-once <count>', 'callers with one key at once', wholeNumber('--at-once', 2, 1_000), 20)
    .option('--key-optional', 'calls without a key are meant to run unguarded')
    .option(
      '--patience <duration>',
      'how long a caller goes on that is told to come back; longer than the target’s leases',
      durationMs('--patience'),
      30_000,
    )
    .option('--answer <duration>', 'how long one answer may take', durationMs('--answer'), 30_000)
    .option('--settle <duration>', 'how long the probe must stand still', durationMs('--settle'), 100)
    .option('--only <properties>', 'test only these, with commas', listed)
    .option('--skip <properties>', 'leave these out', listed)
    .option('--junit <file>', 'write the verdicts for CI')
    .option('--dry-run', 'say what would be sent, and send nothing')
    .option('--json', 'print JSON')
}

export function termsOf(flags: CommonFlags): CheckOptions {
  return {
    atOnce: flags.atOnce,
    patienceMs: flags.patience,
    settleMs: flags.settle,
    keyOptional: flags.keyOptional === true,
    keyPrefix: `hammer-${randomBytes(4).toString('hex')}`,
    ...(flags.only === undefined ? {} : { only: flags.only }),
    ...(flags.skip === undefined ? {} : { skip: flags.skip }),
  }
}

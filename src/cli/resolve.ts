/** `ibid resolve`: a person says what happened to a held receipt. Who and why are required, and go on record. */
import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { invalidIntent } from '../core/errors.js'
import type { Ibid } from '../ibid.js'
import { parseStrict } from '../key/index.js'
import { paint } from './paint.js'
import { print } from './print.js'
import { colourOf } from './receipts-table.js'
import { mustHaveTenant, type StoreOptions, useIbid, withStore, withTenant } from './store-option.js'
import { safe } from './text.js'
import { wholeNumber } from './values.js'

interface Options extends StoreOptions {
  readonly as: 'succeeded' | 'failed' | 'released'
  readonly by: string
  readonly why: string
  readonly value?: string
  readonly message?: string
  readonly code?: string
  readonly epoch?: number
}

type Resolution = Parameters<Ibid['resolve']>[1]

export function resolveCommand(): Command {
  const command = new Command('resolve')
    .description('say what happened to a receipt whose outcome is unknown')
    .argument('<scope>', 'the operation, such as tool:issue_refund')
    .argument('<key>', 'the key of the receipt')
    .addOption(
      new Option('--as <end>', 'succeeded: it happened; failed: it was refused; released: it did not happen')
        .choices(['succeeded', 'failed', 'released'])
        .makeOptionMandatory(),
    )
    .requiredOption('--by <name>', 'who says so')
    .requiredOption('--why <reason>', 'how it is known')
    .option(
      '--value <json>',
      'with succeeded: what the effect returned; @file reads a file, - standard input',
    )
    .option('--message <text>', 'with failed: why it was refused; every duplicate is told')
    .option('--code <code>', 'with failed: a code for programs')
    .option(
      '--epoch <epoch>',
      'of the attempt that was looked at, from inspect: a later one is left alone',
      wholeNumber('--epoch', 0, Number.MAX_SAFE_INTEGER),
    )
    .action(run)
  return withTenant(withStore(command))
}

async function run(scope: string, key: string, options: Options): Promise<void> {
  const where = { tenant: mustHaveTenant(options), scope, key }
  const resolution = resolutionOf(options)
  const { by, why, epoch } = options
  await useIbid(options, async ({ ibid }) => {
    const receipt = await ibid.resolve(where, resolution, { by, why, epoch })
    print(options.json, {
      json: { receipt },
      text: () => {
        const state = paint(receipt.state, colourOf(receipt.state))
        return `${safe(scope)} ${safe(key)} is ${state} now. ${MEANING[options.as]}\n`
      },
    })
  })
}

const MEANING = {
  succeeded: 'A retry with the same key gets the value, and executes nothing.',
  failed: 'A retry with the same key gets the same refusal.',
  released: 'A retry with the same key executes.',
}

function resolutionOf({ as, value, message, code }: Options): Resolution {
  if (value !== undefined && as !== 'succeeded') {
    throw invalidIntent(
      `--value does not go with --as ${as}`,
      'only what succeeded has a value: leave it out',
    )
  }
  if ((message !== undefined || code !== undefined) && as !== 'failed') {
    const flag = message === undefined ? '--code' : '--message'
    throw invalidIntent(`${flag} does not go with --as ${as}`, 'only what failed has an error: leave it out')
  }
  if (as === 'released') return { as }
  if (as === 'succeeded') return value === undefined ? { as } : { as, value: readValue(value) }
  if (message === undefined) {
    throw invalidIntent('--message is missing', 'say why it was refused: every duplicate is told')
  }
  return { as, error: code === undefined ? { message } : { message, code } }
}

function readValue(given: string): unknown {
  const text = textOf(given)
  try {
    return parseStrict(text)
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/; nothing was executed$/, '') : String(error)
    throw invalidIntent(
      `--value cannot be read as JSON: ${reason}`,
      `quote it for the shell: --value '{"id":"re_1"}'`,
    )
  }
}

function textOf(given: string): string {
  if (given !== '-' && !given.startsWith('@')) return given
  try {
    return readFileSync(given === '-' ? 0 : given.slice(1), 'utf8')
  } catch (error) {
    throw invalidIntent(
      `--value cannot be read: ${(error as Error).message}`,
      'give @ and the path of a file with JSON in it, or - for standard input',
    )
  }
}

/**
 * `ibid sweep`: what the housekeeping of every running process does each minute, once and now. For stores whose
 * programs are short-lived, or were created with housekeeping switched off.
 */
import { Command } from 'commander'
import { print } from './print.js'
import { startProgress } from './progress.js'
import { type StoreOptions, useIbid, withStore } from './store-option.js'
import { facts } from './table.js'
import { count } from './times.js'
import { durationMs } from './values.js'

interface Options extends StoreOptions {
  readonly auditWindow: number
}

const MONTH_MS = 30 * 86_400_000

export function sweepCommand(): Command {
  const command = new Command('sweep')
    .description('hold or release what lapsed, forget what ended; claims go on meanwhile')
    .option(
      '--audit-window <duration>',
      'how long the audit log is kept',
      durationMs('--audit-window'),
      MONTH_MS,
    )
    .action(run)
  return withStore(command)
}

async function run(options: Options): Promise<void> {
  const progress = startProgress(options.json === true)
  await useIbid({ ...options, auditWindowMs: options.auditWindow }, async ({ ibid }) => {
    progress.say(() => 'sweeping…')
    const swept = await ibid.sweep().finally(progress.end)
    print(options.json, {
      json: swept,
      text: () =>
        facts([
          ['held for a person now', count(swept.held)],
          ['released', count(swept.released)],
          ['receipts forgotten', count(swept.purged)],
          ['audit events forgotten', count(swept.events)],
        ]) + (swept.held > 0 ? '\nibid held lists what waits for a person\n' : ''),
    })
  })
}

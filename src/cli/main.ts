#!/usr/bin/env node
/**
 * The command `ibid`: one file per command, listed here. Each is loaded with the command line, its libraries
 * later.
 */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { archiveCommand } from './archive.js'
import { benchCommand } from './bench.js'
import { completionCommand } from './completion.js'
import { demoCommand } from './demo.js'
import { doctorCommand } from './doctor.js'
import { fail } from './fail.js'
import { hammerCommand } from './hammer.js'
import { heldCommand } from './held.js'
import { inspectCommand } from './inspect.js'
import { keysCommand } from './keys.js'
import { mcpCommand } from './mcp.js'
import { planCommand } from './plan.js'
import { resolveCommand } from './resolve.js'
import { scanCommand } from './scan.js'
import { serveCommand } from './serve.js'
import { sweepCommand } from './sweep.js'
import { asGiven } from './values.js'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}
const asJson = wantsJson(process.argv.slice(2))

const program = new Command('ibid')
  .description('Do it once; after that, ibid.')
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(ibid --help shows how it is used)')
  .exitOverride()
  // With --json, a wrong flag is told as JSON by `fail`, and not twice.
  .configureOutput({ writeErr: (text) => void (asJson || process.stderr.write(text)) })

const commands = [
  serveCommand(version),
  keysCommand(),
  inspectCommand(),
  heldCommand(),
  resolveCommand(),
  sweepCommand(),
  archiveCommand(),
  planCommand(),
  doctorCommand(),
  scanCommand(),
  hammerCommand(),
  benchCommand(),
  demoCommand(),
  mcpCommand(),
  completionCommand(program),
]
for (const command of commands) program.addCommand(inheriting(command, program))

// A reader that has seen enough, such as head, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

try {
  await program.parseAsync()
} catch (error) {
  fail(error, asJson)
}

/** Commands of commands, too, tell a wrong flag in the same way, and their durations as they are given. */
function inheriting(command: Command, parent: Command): Command {
  for (const option of command.options) {
    const usual: unknown = option.defaultValue
    if (!option.flags.endsWith('<duration>') || typeof usual !== 'number') continue
    option.defaultValueDescription = asGiven(usual)
  }
  for (const inner of command.commands) inheriting(inner, parent)
  return command.copyInheritedSettings(parent)
}

/** What stands behind -- belongs to another program. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).includes('--json')
}

#!/usr/bin/env node
/**
 * The command `ibid`: one file per command, listed here. Only the one that is asked for is loaded, its libraries
 * later: to load all of them takes longer than most of them run.
 */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { fail } from './fail.js'
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

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.js')).serveCommand(version),
  keys: async () => (await import('./keys.js')).keysCommand(),
  inspect: async () => (await import('./inspect.js')).inspectCommand(),
  held: async () => (await import('./held.js')).heldCommand(),
  resolve: async () => (await import('./resolve.js')).resolveCommand(),
  sweep: async () => (await import('./sweep.js')).sweepCommand(),
  archive: async () => (await import('./archive.js')).archiveCommand(),
  plan: async () => (await import('./plan.js')).planCommand(),
  doctor: async () => (await import('./doctor.js')).doctorCommand(),
  scan: async () => (await import('./scan.js')).scanCommand(),
  hammer: async () => (await import('./hammer.js')).hammerCommand(),
  bench: async () => (await import('./bench.js')).benchCommand(),
  demo: async () => (await import('./demo.js')).demoCommand(),
  mcp: async () => (await import('./mcp.js')).mcpCommand(),
  completion: async () => (await import('./completion.js')).completionCommand(program),
}

for (const name of wanted(process.argv[2])) {
  const load = COMMANDS[name] as () => Promise<Command>
  program.addCommand(inheriting(await load(), program))
}

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

/** All of them for help, for completion, and for a word that is none of them: it may be close to one. */
function wanted(first: string | undefined): readonly string[] {
  if (first === '--version' || first === '-V') return []
  const all = Object.keys(COMMANDS)
  return first !== undefined && first !== 'completion' && all.includes(first) ? [first] : all
}

/** What stands behind -- belongs to another program. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).includes('--json')
}

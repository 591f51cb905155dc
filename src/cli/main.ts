#!/usr/bin/env node
/** The command `ibid`: one file per command, listed here. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { mcpCommand } from './mcp.js'
import { fail } from './fail.js'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

const program = new Command('ibid')
  .description('Do it once; after that, ibid.')
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(ibid --help shows how it is used)')

for (const command of [mcpCommand()]) program.addCommand(command)

try {
  await program.parseAsync()
} catch (error) {
  fail(error, process.argv.includes('--json'))
}

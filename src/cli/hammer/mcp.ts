/** `ibid hammer mcp`: a tool of a server that is started, and killed, over stdio. */
import { Command } from 'commander'
import { mcpTarget, type Target } from '../../testing/index.js'
import { type CommonFlags, payloadFlags, withCommonFlags } from './flags.js'
import { objectGiven } from './given.js'
import { run } from './run.js'

interface McpFlags extends CommonFlags {
  readonly tool: string
  readonly arguments?: string
  readonly otherArguments?: string
  readonly failingArguments?: string
  readonly slowArguments?: string
  readonly keyMeta: string
  readonly keyArgument?: string
}

export function mcpToolCommand(): Command {
  const command = new Command('mcp')
    .description('a tool of an MCP server, over stdio')
    .usage('[options] -- command args…')
    .argument('<command...>', 'starts the server; it is killed and started again by the restart properties')
    .requiredOption('--tool <name>', 'the tool to call')
    .option('--key-meta <name>', 'where the key goes in params._meta', 'ibid/idempotencyKey')
    .option('--key-argument <name>', 'the argument that takes the key, instead of _meta')
  return withCommonFlags(payloadFlags(command, 'arguments', 'a JSON object, or @file')).action(
    async (program: readonly string[], flags: McpFlags) => {
      const { tool, keyMeta, keyArgument, answer } = flags
      const payloads = {
        payload: objectGiven('--arguments', flags.arguments) ?? {},
        otherPayload: objectGiven('--other-arguments', flags.otherArguments),
        failingPayload: objectGiven('--failing-arguments', flags.failingArguments),
        slowPayload: objectGiven('--slow-arguments', flags.slowArguments),
      }
      const shown = { name: `tool ${tool} of ${program.join(' ')}`, payloadName: 'arguments' }
      const open = async (): Promise<Target> =>
        await mcpTarget({ command: program, tool, keyMeta, keyArgument, answerMs: answer })
      await run(flags, { open, ...shown, payloads, restart: 'the server is killed and started again' })
    },
  )
}

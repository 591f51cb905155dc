/**
 * `ibid hammer`: is each action done once? Looks at an HTTP endpoint, an MCP tool or a function from outside: repeats
 * calls, counts effects through a probe, and says of each property whether it held. The checks are those of
 * `ibid/testing`.
 */
import { Command } from 'commander'
import { functionCommand } from './hammer/function.js'
import { httpCommand } from './hammer/http.js'
import { mcpToolCommand } from './hammer/mcp.js'

export function hammerCommand(): Command {
  const hammer = new Command('hammer').description(
    'check from outside that each action is done once, and count the effects',
  )
  for (const make of [httpCommand, mcpToolCommand, functionCommand]) hammer.addCommand(make())
  return hammer
}

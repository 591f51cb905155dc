/** `ibid hammer function`: an export of a module, called in a process that can be killed. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { functionTarget, type Target } from '../../testing/index.js'
import { type CommonFlags, payloadFlags, withCommonFlags } from './flags.js'
import { exportGiven, jsonGiven } from './given.js'
import { run } from './run.js'

interface FunctionFlags extends CommonFlags {
  readonly payload?: string
  readonly otherPayload?: string
  readonly failingPayload?: string
  readonly slowPayload?: string
}

export function functionCommand(): Command {
  const command = new Command('function')
    .description('a function, called as fn(key, payload) in a process of its own')
    .argument('<file#export>', 'a module and the name of its export; without a name, the default one')
  return withCommonFlags(payloadFlags(command, 'payload', 'JSON, or @file')).action(
    async (given: string, flags: FunctionFlags) => {
      const { file, name } = exportGiven('<file#export>', given)
      const payloads = {
        payload: jsonGiven('--payload', flags.payload),
        otherPayload: jsonGiven('--other-payload', flags.otherPayload),
        failingPayload: jsonGiven('--failing-payload', flags.failingPayload),
        slowPayload: jsonGiven('--slow-payload', flags.slowPayload),
      }
      const shown = { name: `${name}(key, payload) of ${file}`, payloadName: 'payload' }
      const open = async (): Promise<Target> =>
        await functionTarget({ module: resolve(file), name, answerMs: flags.answer })
      await run(flags, { open, ...shown, payloads, restart: 'its process is killed and started again' })
    },
  )
}

/** Commands that the caller gave: the probe that prints a number, and the restart. */
import { spawn } from 'node:child_process'
import { IbidError } from '../../core/errors.js'

const OUTPUT = 10_000

export async function runCommand(flag: string, command: string, wantsOutput: boolean): Promise<string> {
  // What a restart leaves running would hold a pipe open for ever.
  const child = spawn(command, { shell: true, stdio: ['ignore', wantsOutput ? 'pipe' : 'ignore', 'ignore'] })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-OUTPUT)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once(wantsOutput ? 'close' : 'exit', resolve)
  })
  if (code === 0) return output
  throw new IbidError(`the command of ${flag} ended with ${code ?? 'a signal'}: ${command}`, {
    code: 'COMMAND_FAILED',
    retriable: false,
    action: `run it by hand; ${flag} needs a command that ends with 0`,
  })
}

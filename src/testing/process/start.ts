/**
 * Processes that a test starts, talks to and kills. They run compiled code: Node reads no TypeScript, so a script
 * beside a source file under src/ is looked for at the same place under dist/.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { IbidError } from '../../core/errors.js'
import { tally } from '../tally.js'
import type { Answer, Call } from './serve.js'

export interface Child {
  readonly pid: number
  /** Calls one of the handlers that the script serves. Rejects when the process ends before it has answered. */
  call<T>(verb: string, argument: unknown): Promise<T>
  /** SIGKILL, and the end of the process. */
  kill(): Promise<void>
  /** Lets it finish, and waits for its end. */
  end(): Promise<void>
  /** Resolves with the signal that ended it, or null. */
  readonly ended: Promise<NodeJS.Signals | null>
}

/** The compiled script at `relative`, seen from the module whose `import.meta.url` is `base`. */
export function compiled(relative: string, base: string): URL {
  const { href } = new URL(relative, base)
  const at = href.lastIndexOf('/src/')
  return new URL(base.endsWith('.ts') && at >= 0 ? `${href.slice(0, at)}/dist/${href.slice(at + 5)}` : href)
}

export function startChild(script: URL): Child {
  const child = fork(fileURLToPath(script), [], {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  tally({ processes: 1 })
  const waiting = new Map<number, (answer: Answer) => void>()
  let asked = 0
  let complaints = ''
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (complaints = (complaints + text).slice(-2_000)))
  child.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const ended = endOf(child)
  void ended.then((signal) => {
    const error = {
      message: `the process ended (${signal ?? child.exitCode}) before it answered. ${complaints}`,
    }
    for (const [id, settle] of waiting) settle({ id, error })
    return waiting.clear()
  })
  return {
    pid: child.pid as number,
    ended,
    call: async <T>(verb: string, argument: unknown) =>
      await ask<T>(child, waiting, { id: ++asked, verb, argument }),
    async kill() {
      tally({ kills: 1 })
      child.kill('SIGKILL')
      await ended
    },
    async end() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/** Its exit, and then a moment for its last words. Not `close`: that does not come once the parent has let go. */
async function endOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
  const said = child.stderr ? once(child.stderr, 'end') : undefined
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  await Promise.race([said, sleep(100, undefined, { ref: false })])
  return signal
}

async function ask<T>(
  child: ChildProcess,
  waiting: Map<number, (answer: Answer) => void>,
  call: Call,
): Promise<T> {
  const answer = await new Promise<Answer>((resolve) => {
    waiting.set(call.id, resolve)
    child.send(call, (error) => {
      if (error)
        resolve({ id: call.id, error: { message: `the process cannot be reached: ${error.message}` } })
    })
  })
  if (!answer.error) return answer.value as T
  throw new IbidError(`a process that the test started failed in ${call.verb}: ${answer.error.message}`, {
    code: 'CHILD_PROCESS_FAILED',
    retriable: false,
    action: 'see the message: it is what the process said last',
    data: answer.error,
  })
}

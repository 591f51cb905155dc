/**
 * A function `(key, payload) => value` as a target, in a process of its own that can be killed in the middle of a
 * call. What the caller sees is what it returns, so metadata that differs on a replay has no place in it.
 */
import { invalidIntent } from '../../core/errors.js'
import { type Child, compiled, startChild } from '../process/start.js'
import { moduleUrl } from '../store/processes.js'
import type { FunctionAnswer, FunctionOpening } from './function-child.js'
import { type Answer, lost, type Order, type Sending, type Target } from './target.js'

export interface FunctionTargetOptions {
  readonly module: string | URL
  /** The name of the export. Default `default`. */
  readonly name?: string
  /** How long an answer may take. Default 30 s. */
  readonly answerMs?: number
}

/** What errors call it when the first call is still running, where they do not say `retriable`. */
const UNDER_WAY = /in.?progress|in.?flight|still running/i

export async function functionTarget(options: FunctionTargetOptions): Promise<Target> {
  const { name = 'default', answerMs = 30_000 } = options
  const opening: FunctionOpening = { module: moduleUrl(options.module), name }
  let child = await start(opening)

  async function call({ key, payload }: Order, { cut, onSent }: Sending = {}): Promise<Answer> {
    const running = child.call<FunctionAnswer>('call', { key, payload }).then(answerOf, () => GONE)
    onSent?.()
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(lost(`no answer in ${answerMs} ms`)), answerMs)
      cut?.addEventListener('abort', () => resolve(lost('cut off by the caller')), { once: true })
      void running.then(resolve).finally(() => clearTimeout(timer))
    })
  }

  return {
    name: `${name}(key, payload) of ${String(options.module)}`,
    payloadName: 'payload',
    canCarry: () => true,
    call,
    roles: [],
    async restart() {
      await child.kill()
      child = await start(opening)
    },
    close: async () => await child.end(),
  }
}

const GONE = lost('its process ended')

async function start(opening: FunctionOpening): Promise<Child> {
  const child = startChild(compiled('./function-child.js', import.meta.url))
  const names = await child.call<readonly string[]>('open', opening)
  if (names.includes(opening.name)) return child
  await child.end()
  throw invalidIntent(
    `${opening.module} exports no function ${JSON.stringify(opening.name)}`,
    names.length === 0 ? 'export a function (key, payload) => value' : `it exports ${names.join(', ')}`,
  )
}

function answerOf(answer: FunctionAnswer): Answer {
  if ('value' in answer) return { kind: 'done', said: 'returns', body: answer.value, facts: {} }
  const { name, code, message, retriable, retryAfterMs } = answer.error
  const isUnderWay = retriable ?? UNDER_WAY.test(`${name} ${code} ${message}`)
  const said = `throws ${code ?? name}`
  return { kind: isUnderWay ? 'wait' : 'refused', said, body: message, facts: {}, retryAfterMs }
}

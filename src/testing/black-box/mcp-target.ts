/**
 * A tool of an MCP server as a target. Every call has a new request id, as the protocol wants it, and says in
 * `_meta`, or in an argument, which action it is. A caller that goes away cancels the request.
 */
import { invalidIntent } from '../../core/errors.js'
import { type McpProcess, type Reply, startMcp } from './mcp-process.js'
import { type Answer, lost, type Order, type Sending, type Target } from './target.js'

export interface McpTargetOptions {
  readonly command: readonly string[]
  readonly tool: string
  /** Where the key goes in `params._meta`. Default `ibid/idempotencyKey`. */
  readonly keyMeta?: string
  /** The argument that takes the key, for servers that want it there instead. */
  readonly keyArgument?: string | undefined
  /** How long an answer may take. Default 30 s. */
  readonly answerMs?: number
}

const UNDER_WAY = /in.?progress|in.?flight|still running/i
const INTERNAL_ERROR = -32_603

export async function mcpTarget(options: McpTargetOptions): Promise<Target> {
  const { command, tool, keyMeta = 'ibid/idempotencyKey', keyArgument, answerMs = 30_000 } = options
  let server = await start(command, tool)

  function paramsOf({ key, payload }: Order): object {
    const given = key === undefined ? {} : { key }
    const args = payload as Record<string, unknown>
    if (keyArgument === undefined) {
      const meta = 'key' in given ? { _meta: { [keyMeta]: given.key } } : {}
      return { name: tool, arguments: args, ...meta }
    }
    return { name: tool, arguments: 'key' in given ? { ...args, [keyArgument]: given.key } : args }
  }

  async function call(order: Order, { cut, onSent }: Sending = {}): Promise<Answer> {
    const asked = server
    let id: number | undefined
    const running = asked.ask('tools/call', paramsOf(order), (sent) => {
      id = sent
      onSent?.()
    })
    return await new Promise((resolve) => {
      function leave(said: string): void {
        asked.tell('notifications/cancelled', { requestId: id, reason: said })
        resolve(lost(said))
      }
      const timer = setTimeout(() => leave(`no answer in ${answerMs} ms`), answerMs)
      cut?.addEventListener('abort', () => leave('cut off by the caller'), { once: true })
      void running.then((reply) => resolve(answerOf(reply))).finally(() => clearTimeout(timer))
    })
  }

  return {
    name: `tool ${tool} of ${command[0]}`,
    payloadName: 'arguments',
    canCarry: () => true,
    call,
    roles: [],
    async restart() {
      await server.kill()
      server = await start(command, tool)
    },
    close: async () => await server.end(),
  }
}

async function start(command: readonly string[], tool: string): Promise<McpProcess> {
  const server = await startMcp(command)
  const reply = await server.ask('tools/list', {})
  const tools = (reply?.result?.['tools'] ?? []) as readonly { readonly name: string }[]
  const isMore = reply?.result?.['nextCursor'] !== undefined
  if (isMore || tools.some(({ name }) => name === tool)) return server
  await server.end()
  const names = tools.map(({ name }) => name).join(', ')
  throw invalidIntent(`the MCP server has no tool ${JSON.stringify(tool)}`, `its tools: ${names || 'none'}`)
}

function answerOf(reply: Reply | undefined): Answer {
  if (reply === undefined) return lost('the server ended')
  if (reply.error) {
    const { code, message } = reply.error
    const kind = UNDER_WAY.test(message) ? 'wait' : code === INTERNAL_ERROR ? 'failed' : 'refused'
    return { kind, said: `error ${code}`, body: message, facts: {} }
  }
  const { _meta: meta, ...rest } = reply.result ?? {}
  const body = JSON.stringify(rest)
  const facts = Object.fromEntries(
    Object.entries((meta ?? {}) as Record<string, unknown>).map(([name, value]) => [
      name,
      JSON.stringify(value),
    ]),
  )
  if (rest['isError'] !== true) return { kind: 'done', said: 'result', body, facts }
  const { code, retriable, retryAfterMs } = problemOf(rest, (meta ?? {}) as Record<string, unknown>)
  const said = code === undefined ? 'isError' : `isError ${code}`
  return { kind: (retriable ?? UNDER_WAY.test(body)) ? 'wait' : 'refused', said, body, facts, retryAfterMs }
}

interface Problem {
  readonly code?: string
  readonly retriable?: boolean
  readonly retryAfterMs?: number
}

/** ibid tells a host in `_meta`, and a model in the text; other servers have texts of their own. */
function problemOf(
  result: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
): Problem {
  if (meta['ibid/error'] !== undefined) return meta['ibid/error'] as Problem
  const [first] = (result['content'] ?? []) as readonly { readonly text?: string }[]
  try {
    const told = JSON.parse(first?.text ?? '') as { readonly error?: Problem } & Problem
    return told.error ?? told
  } catch {
    return {}
  }
}

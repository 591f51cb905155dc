/**
 * A broker's tools as an MCP server's: the two handlers that a server needs, for either generation of the SDK.
 * They go to the low-level server's `setRequestHandler`, under the name or the schema that its generation uses
 * for the two methods.
 */
import { IbidError } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import type { Broker, ToolCard } from '../../guards/broker/broker.js'
import type { CallContext } from '../../guards/broker/context.js'
import type { EffectClass } from '../../guards/broker/contract.js'
import { readCall } from './guard.js'
import { CODES, isObject, type JsonObject, objectOf } from './message.js'
import { marksAsMeta, readMeta } from './meta.js'

export interface BrokerHandlersOptions {
  /**
   * What the host knows of a call besides its `_meta`: tenant, run, step, rights. `extra` is what the SDK hands
   * over.
   */
  readonly context?: (extra: unknown) => CallContext
}

export interface BrokerHandlers {
  listTools(): { tools: McpTool[] }
  callTool(request: { readonly params: object }, extra?: unknown): Promise<McpResult>
}

export interface McpTool {
  name: string
  title?: string
  description?: string
  inputSchema: { type: 'object'; [word: string]: unknown }
  annotations: { readOnlyHint: boolean; idempotentHint: boolean; destructiveHint: boolean }
}

export interface McpResult {
  content: { type: 'text'; text: string }[]
  structuredContent: { [name: string]: unknown }
  isError: boolean
  _meta: { [name: string]: unknown }
  [name: string]: unknown
}

export function brokerHandlers(broker: Broker, options: BrokerHandlersOptions = {}): BrokerHandlers {
  onlyKnown(options, ['context'], 'brokerHandlers')
  const contextOf = options.context ?? clientOf
  return {
    listTools: () => ({ tools: broker.tools.map(toolOf) }),
    async callTool({ params }, extra) {
      const read = readCall(objectOf(params))
      if (!read) throw invalidParams('the call names no tool')
      const { name, args, meta } = read
      const { hostKey, runId, ordinal } = wordsOf(meta)
      const said = { ...(hostKey && { hostKey }), ...(runId && { runId }), ordinal }
      const observation = await broker.call(name, args ?? {}, { ...said, ...contextOf(extra) })
      const { _idempotency: marks } = observation
      const seen = broker.toModel(name, observation)
      return {
        content: [{ type: 'text', text: JSON.stringify(seen) }],
        structuredContent: { ...seen },
        isError: !observation.ok,
        _meta: marksAsMeta(marks),
      }
    },
  }
}

/** The SDK turns the code of what is thrown into the code of the answer. */
function wordsOf(meta: JsonObject): ReturnType<typeof readMeta> {
  try {
    return readMeta(meta)
  } catch (error) {
    throw error instanceof IbidError ? invalidParams(error.message) : error
  }
}

function invalidParams(message: string): TypeError {
  return Object.assign(new TypeError(message), { code: CODES.params })
}

function toolOf({ name, title, description, effect, inputSchema }: ToolCard): McpTool {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: { ...(isObject(inputSchema) ? inputSchema : {}), type: 'object' },
    annotations: hintsOf(effect),
  }
}

function hintsOf(effect: EffectClass): McpTool['annotations'] {
  return {
    readOnlyHint: effect === 'read',
    idempotentHint: effect === 'read' || effect === 'write-idempotent',
    destructiveHint: effect === 'irreversible',
  }
}

/** Both generations have it, at two places. */
function clientOf(extra: unknown): CallContext {
  const { authInfo, http } = objectOf(extra) as { authInfo?: unknown; http?: unknown }
  const { clientId, scopes } = objectOf(authInfo ?? objectOf(http)['authInfo'])
  return {
    principal: typeof clientId === 'string' && clientId !== '' ? clientId : 'local',
    ...(Array.isArray(scopes) ? { scopes: scopes as readonly string[] } : {}),
  }
}

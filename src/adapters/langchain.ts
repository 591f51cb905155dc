/**
 * `ibid/langchain`: a broker's tools for LangChain and LangGraph, as plain tools or as middleware of an agent.
 * The run is the thread: with a checkpointer the graph keeps the model's message, so the id of a call is the same
 * when the tool node runs again, be it on resume, on replay or in a fork of the thread.
 */
import { type StructuredToolInterface, ToolInputParsingException } from '@langchain/core/tools'
import { type AgentMiddleware, createMiddleware, tool, ToolMessage } from 'langchain'
import type { Broker, ModelObservation } from '../guards/broker/index.js'
import { type AdapterOptions, answerCall, checkOptions } from './host/answer.js'
import { objectSchema } from './host/object-schema.js'

/** What is known of the run: the config of a tool, or the runtime of a middleware. */
export interface LangChainInfo {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
  /** The program's own context, as it was given to `invoke`. */
  readonly context?: unknown
  readonly signal?: AbortSignal | undefined
}

export type LangChainOptions = AdapterOptions<LangChainInfo>

type Invoke = (input: unknown, config?: LangChainInfo) => Promise<unknown>

interface Requested {
  readonly name: string
  readonly args: unknown
  readonly id?: string | undefined
}

/** For `ToolNode`, `createAgent({ tools })` and `bindTools`. */
export function langchainTools(broker: Broker, options: LangChainOptions = {}): StructuredToolInterface[] {
  checkOptions(options, 'langchainTools')
  const answer = async (call: Requested, info: LangChainInfo = {}): Promise<ToolMessage | string> =>
    messageFor(call, await answerFor(broker, call, info, options))
  return broker.tools.map((card) => {
    const { name } = card
    const made = tool(
      (args: unknown, info: LangChainInfo & { readonly toolCall?: { readonly id?: string } }) =>
        answer({ name, args, id: info.toolCall?.id }, info),
      { name, description: card.description ?? card.title ?? '', schema: objectSchema(card) },
    )
    const invoke = made.invoke.bind(made) as Invoke
    // LangChain checks arguments too, and would answer in its own words: the broker names the field.
    const unchecked: Invoke = (input, config) =>
      invoke(input, config).catch((error: unknown) => {
        if (!(error instanceof ToolInputParsingException)) throw error
        const { args = input, id } = (input ?? {}) as Partial<Requested>
        return answer({ name, args, id }, config)
      })
    return Object.assign(made, { invoke: unchecked })
  })
}

/** For `createAgent({ middleware })`: brings the tools along, and answers their calls whoever else declares them. */
export function langchainMiddleware(broker: Broker, options: LangChainOptions = {}): AgentMiddleware {
  return createMiddleware({
    name: 'ibid',
    tools: langchainTools(broker, options),
    async wrapToolCall({ toolCall, runtime, ...rest }, next) {
      if (broker.contract(toolCall.name) === undefined) return next({ toolCall, runtime, ...rest })
      return messageFor(toolCall, await answerFor(broker, toolCall, runtime, options)) as ToolMessage
    },
  })
}

function answerFor(
  broker: Broker,
  { name, args, id }: Requested,
  info: LangChainInfo,
  options: LangChainOptions,
): Promise<ModelObservation> {
  const { thread_id: thread, __pregel_checkpointer: checkpointer } = info.configurable ?? {}
  return answerCall(
    broker,
    { tool: name, args, toolCallId: id, info },
    {
      // Nothing else of it: a client of a served graph writes into `configurable`, and must not name its tenant.
      context: typeof thread === 'string' ? { runId: thread } : undefined,
      signal: info.signal,
      stored: checkpointer !== undefined,
    },
    options,
  )
}

/** A tool that is called by hand, without an id, gets the text alone. */
function messageFor({ name, id }: Requested, shown: ModelObservation): ToolMessage | string {
  const content = JSON.stringify(shown)
  if (id === undefined) return content
  return new ToolMessage({ name, content, tool_call_id: id, status: shown.ok ? 'success' : 'error' })
}

/**
 * `ibid/ai-sdk`: a broker's tools for `generateText`, `streamText` and agents of the AI SDK. The run comes from
 * `experimental_context: { ibid: { runId } }` (AI SDK 6) or from the tool's context (7).
 */
import { jsonSchema, type JSONValue, tool, type Tool, type ToolExecutionOptions } from 'ai'
import type { Broker, ModelObservation } from '../guards/broker/index.js'
import { type AdapterOptions, answerCall, carriedContext, checkOptions } from './host/answer.js'
import { objectSchema } from './host/object-schema.js'

export type AiSdkOptions = AdapterOptions<ToolExecutionOptions>

export type AiSdkTool = Tool<unknown, ModelObservation>

/** By name, as the AI SDK wants them. Spread one to add to it: `{ ...tools.issue_refund, needsApproval: true }`. */
export function aiSdkTools(broker: Broker, options: AiSdkOptions = {}): Record<string, AiSdkTool> {
  checkOptions(options, 'aiSdkTools')
  return Object.fromEntries(
    broker.tools.map((card) => [
      card.name,
      tool({
        ...(card.title !== undefined && { title: card.title }),
        ...(card.description !== undefined && { description: card.description }),
        inputSchema: jsonSchema(objectSchema(card)),
        execute: (args: unknown, info: ToolExecutionOptions): Promise<ModelObservation> =>
          answerCall(
            broker,
            { tool: card.name, args, toolCallId: info.toolCallId, info },
            {
              context: carriedContext('context' in info ? info.context : info.experimental_context),
              signal: info.abortSignal,
              stored: isWaiting(info),
            },
            options,
          ),
        toModelOutput: ({ output }: { readonly output: ModelObservation }) => ({
          type: output.ok ? ('json' as const) : ('error-json' as const),
          value: output as unknown as JSONValue,
        }),
      }),
    ]),
  )
}

/**
 * A call that stands in the messages, and has no result there, came back with them, approved: its id is as old as they
 * are. Any other was made up by the model a moment ago, and is not seen here again; so was one under the id of a call
 * that has its result, and an id that stands for two calls is none: some models count theirs anew at every turn.
 */
function isWaiting({ messages, toolCallId }: ToolExecutionOptions): boolean {
  const about = messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : [...content]))
    .filter((part) => 'toolCallId' in part && part.toolCallId === toolCallId)
    .map(({ type }) => type)
  return about.filter((type) => type === 'tool-call').length === 1 && !about.includes('tool-result')
}

/**
 * `ibid/openai-agents`: a broker's tools for agents of the OpenAI Agents SDK. The run comes from the run's
 * context, `run(agent, input, { context: { ibid: { runId } } })`, which a serialized state carries along.
 */
import { type FunctionTool, ModelBehaviorError, type RunContext, tool } from '@openai/agents'
import type { Broker, ModelObservation } from '../guards/broker/index.js'
import { refusal } from '../guards/broker/observation.js'
import { invalidArguments } from '../guards/broker/words.js'
import { type AdapterOptions, answerCall, carriedContext, checkOptions } from './host/answer.js'
import { objectSchema } from './host/object-schema.js'

/** What the SDK hands to a tool beside its arguments. */
export interface OpenAiAgentsInfo {
  readonly runContext: RunContext | undefined
  readonly details: Parameters<FunctionTool['invoke']>[2]
}

export type OpenAiAgentsOptions = AdapterOptions<OpenAiAgentsInfo>

type LooseSchema = Extract<Parameters<typeof tool>[0], { readonly strict: false }>['parameters']

/** For `new Agent({ tools })`. Spread one to add to it: `{ ...refund, needsApproval: async () => true }`. */
export function openaiAgentsTools(broker: Broker, options: OpenAiAgentsOptions = {}): FunctionTool[] {
  checkOptions(options, 'openaiAgentsTools')
  return broker.tools.map((card) => {
    const made: FunctionTool = tool<LooseSchema, unknown, ModelObservation>({
      name: card.name,
      description: card.description ?? card.title ?? '',
      parameters: objectSchema(card) as unknown as NonNullable<LooseSchema>,
      strict: false,
      // What still throws is the program's mistake: the SDK would tell the model to try again.
      errorFunction: null,
      execute: (args, runContext, details) =>
        answerCall(
          broker,
          { tool: card.name, args, toolCallId: details?.toolCall?.callId, info: { runContext, details } },
          {
            context: carriedContext(runContext?.context),
            signal: details?.signal,
            stored: wasApproved(runContext, details?.toolCall?.callId),
          },
          options,
        ),
    })
    const invoke = made.invoke.bind(made)
    // What is no JSON is the model's mistake, and the model is told of it; the SDK would end the run.
    const unparsed: typeof invoke = (...call) =>
      invoke(...call).catch((error: unknown) => {
        if (!(error instanceof ModelBehaviorError)) throw error
        return broker.toModel(card.name, refusal(invalidArguments(NO_JSON)))
      })
    return Object.assign(made, { invoke: unparsed })
  })
}

const NO_JSON = [{ field: '', message: 'they are no JSON' }]

/**
 * A call that a person approved has been through a serialized state, which keeps its id. An approval of all calls to
 * come says nothing of this one.
 */
function wasApproved(runContext: RunContext | undefined, id: string | undefined): boolean {
  if (runContext === undefined || id === undefined) return false
  return Object.values(runContext.toJSON().approvals).some(
    ({ approved }) => Array.isArray(approved) && approved.includes(id),
  )
}

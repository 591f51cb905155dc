/**
 * `ibid/anthropic`: a broker's tools for the tool runner of the Anthropic SDK. The SDK carries no context to a
 * tool, so the run is given when the tools are made, which costs next to nothing: once per conversation.
 */
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import type { BetaRunnableTool, BetaToolRunContext } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import type { Broker } from '../guards/broker/index.js'
import { type AdapterOptions, answerCall, checkOptions } from './host/answer.js'
import { objectSchema } from './host/object-schema.js'

/** What the SDK hands to a tool beside its arguments. */
export type AnthropicInfo = BetaToolRunContext | undefined

export type AnthropicOptions = AdapterOptions<AnthropicInfo>

/** For `client.beta.messages.toolRunner({ tools })`. */
export function anthropicTools(broker: Broker, options: AnthropicOptions): BetaRunnableTool[] {
  checkOptions(options, 'anthropicTools')
  return broker.tools.map((card) =>
    betaTool({
      name: card.name,
      description: card.description ?? card.title ?? '',
      inputSchema: objectSchema(card),
      async run(args: unknown, info: AnthropicInfo) {
        const shown = await answerCall(
          broker,
          { tool: card.name, args, toolCallId: info?.toolUse.id, info },
          { signal: info?.signal, stored: false },
          options,
        )
        const text = JSON.stringify(shown)
        if (shown.ok) return text
        // The SDK's way to say that a result is an error: the text reaches the model as it is, marked as one.
        throw new ToolError(text)
      },
    }),
  )
}

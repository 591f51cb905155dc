// Anthropic SDK: the tool runner inside a step of a workflow, which is run again. The model makes up a new id for its
// call each time; the step is the same. One refund, the same answer.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import { anthropicTools } from 'ibid/anthropic'
import { broker, report } from './agents/refunds.mjs'

// A server that plays the Messages API: it asks for the refund, and ends when it has seen a result.
const shown = []
async function play(request, response) {
  const { messages } = await json(request)
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const result = blocks.find(({ type }) => type === 'tool_result')
  if (result) shown.push(result.content)
  const input = { payment: 'pay_8123', amount: 14_000 }
  const call = { type: 'tool_use', id: `toolu_${crypto.randomUUID()}`, name: 'issue_refund', input }
  const message = {
    id: `msg_${crypto.randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: 'played',
    content: [result ? { type: 'text', text: 'It is on its way.' } : call],
    stop_reason: result ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(message))
}
const server = createServer((request, response) => void play(request, response))
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Anthropic({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}` })

// With Temporal: context: stepIds.temporal(Context.current().info); with others likewise.
const step = () =>
  client.beta.messages
    .toolRunner({
      model: 'played',
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'Refund ₹14,000 of pay_8123, please.' }],
      tools: anthropicTools(broker, { context: { runId: 'wf_81', stepId: 'step_3' } }),
    })
    .runUntilDone()

await step()
await step()
server.closeAllConnections()
server.close()
report('one step, run twice', shown)

// OpenAI Agents SDK: a run waits for approval, and its stored state is resumed twice. One refund, the same answer.
import { Agent, Runner, RunState, Usage } from '@openai/agents'
import { openaiAgentsTools } from 'ibid/openai-agents'
import { broker, report } from './agents/refunds.mjs'

// A model that asks for the refund, and ends when it has seen a result. Yours is the name of a model.
const shown = []
const model = {
  async getResponse({ input }) {
    const result = input.find(({ type }) => type === 'function_call_result')
    if (result) shown.push(result.output.text)
    const text = { type: 'output_text', text: 'It is on its way.' }
    const said = { type: 'message', role: 'assistant', status: 'completed', content: [text] }
    const call = {
      type: 'function_call',
      callId: crypto.randomUUID(),
      name: 'issue_refund',
      status: 'completed',
      arguments: JSON.stringify({ payment: 'pay_8123', amount: 14_000 }),
    }
    return { usage: new Usage(), output: [result ? said : call] }
  },
}

const tools = openaiAgentsTools(broker).map((tool) => ({ ...tool, needsApproval: async () => true }))
const agent = new Agent({ name: 'clerk', model, tools })
const runner = new Runner({ tracingDisabled: true })

const { state, interruptions } = await runner.run(agent, 'Refund ₹14,000 of pay_8123, please.', {
  context: { ibid: { runId: 'conversation_17' } }, // travels with the state
})
state.approve(interruptions[0])
const stored = state.toString()

const resume = async () => runner.run(agent, await RunState.fromString(agent, stored))
await Promise.all([resume(), resume()])
report('one stored state, resumed twice', shown)

// LangChain: a checkpoint from before the tool is resumed three times. One refund, the same answer.
import { MemorySaver } from '@langchain/langgraph'
import { AIMessage, createAgent, fakeModel } from 'langchain'
import { langchainMiddleware } from 'ibid/langchain'
import { broker, report } from './agents/refunds.mjs'

// A model that asks for the refund, and ends when it has seen a result. Yours is a chat model of LangChain.
const shown = []
const turn = (messages) => {
  const result = messages.find((message) => message.getType() === 'tool')
  if (result) shown.push(result.content)
  const call = {
    name: 'issue_refund',
    args: { payment: 'pay_8123', amount: 14_000 },
    id: crypto.randomUUID(),
  }
  return result ? new AIMessage('It is on its way.') : new AIMessage({ content: '', tool_calls: [call] })
}
const model = fakeModel().respond(turn).respond(turn).respond(turn).respond(turn)

const agent = createAgent({
  model,
  checkpointer: new MemorySaver(), // in production: one that outlives the process
  middleware: [langchainMiddleware(broker)], // brings the broker's tools along
})

// The thread is the run. `sync`: the model's message is stored before the tool runs.
const config = { configurable: { thread_id: 'thread_17' }, durability: 'sync' }
const question = { role: 'user', content: 'Refund ₹14,000 of pay_8123, please.' }
await agent.invoke({ messages: [question] }, { ...config, interruptBefore: ['tools'] })
const { config: decided } = await agent.graph.getState(config)

for (let resumed = 0; resumed < 3; resumed++) await agent.invoke(null, { ...config, ...decided })
report('one checkpoint, resumed three times', shown)

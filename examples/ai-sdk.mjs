// AI SDK: a person approves a refund, and the browser posts the approval twice. One refund, the same answer.
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { aiSdkTools } from 'ibid/ai-sdk'
import { broker, report } from './agents/refunds.mjs'

// A model that asks for the refund, and ends when it has seen a result. Yours is openai('…') or anthropic('…').
const NONE = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 }
const shown = []
const model = new MockLanguageModelV3({
  async doGenerate({ prompt }) {
    const results = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content)
    const result = results.find(({ type }) => type === 'tool-result')
    if (result) shown.push(JSON.stringify(result.output.value))
    const input = JSON.stringify({ payment: 'pay_8123', amount: 14_000 })
    const call = { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName: 'issue_refund', input }
    return {
      content: [result ? { type: 'text', text: 'It is on its way.' } : call],
      finishReason: { unified: result ? 'stop' : 'tool-calls', raw: undefined },
      usage: { inputTokens: NONE, outputTokens: NONE },
      warnings: [],
    }
  },
})

const { issue_refund } = aiSdkTools(broker)
const tools = { issue_refund: { ...issue_refund, needsApproval: true } }
const chat = (messages) =>
  generateText({
    model,
    tools,
    stopWhen: stepCountIs(5),
    experimental_context: { ibid: { runId: 'chat_17' } }, // the conversation, from your database or your URL
    messages,
  })

const question = { role: 'user', content: 'Refund ₹14,000 of pay_8123, please.' }
const { content, response } = await chat([question])
const { approvalId } = content.find(({ type }) => type === 'tool-approval-request')
const yes = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }
const posted = [question, ...response.messages, yes]

await Promise.all([chat(posted), chat(posted)])
report('one approval, posted twice', shown)

/** What happens to a paid tool in a LangGraph of one's own: a tool node that is run again as a whole, and a fork. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { AIMessage, createAgent, fakeModel, HumanMessage, tool, type ToolMessage } from 'langchain'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { langchainMiddleware, langchainTools } from '../../src/adapters/langchain.js'
import type { Broker } from '../../src/guards/broker/index.js'
import type { Ibid } from '../../src/index.js'
import type { Ledger } from '../../src/testing/index.js'
import { openBroker, REFUND } from '../fixtures/agents/refund-tool.mjs'

let folder: string
let broker: Broker
let effects: Ledger
let ibid: Ibid

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-langgraph-'))
  ;({ broker, effects, ibid } = openBroker(folder))
})

afterEach(async () => {
  await ibid.close()
  await rm(folder, { recursive: true, force: true })
})

const call = (name: string, args: object, id: string) => ({ name, args, id, type: 'tool_call' as const })
const said = (...calls: ReturnType<typeof call>[]) => new AIMessage({ content: '', tool_calls: calls })
const results = ({ messages }: { readonly messages: readonly { getType(): string }[] }) =>
  (messages.filter((message) => message.getType() === 'tool') as ToolMessage[]).map(({ content }) => content)

const NOTHING = { type: 'object', properties: {} } as const
const BOTH = [call('issue_refund', REFUND, 'call_1'), call('ask', {}, 'call_2')]
const end = (): AIMessage => new AIMessage('done')

/** One node that runs the refund and a tool that asks a person, in one go. */
function openGraph() {
  const ask = tool(() => String(interrupt('shall I?')), {
    name: 'ask',
    description: 'Asks.',
    schema: NOTHING,
  })
  return new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode([...langchainTools(broker), ask]))
    .addEdge('__start__', 'tools')
    .compile({ checkpointer: new MemorySaver() })
}

const PATIENT = { timeout: 30_000 }

test.each([
  { when: 'while the refund may be under way', least: 0 },
  { when: 'when it is done', least: 1 },
])(
  '[R20] a tool node that asks a person is run again as a whole on resume, $when: one refund',
  async ({ least }) => {
    const graph = openGraph()
    const config = { configurable: { thread_id: 'thread' } }
    // The question ends the node at once; the refund beside it goes on.
    await graph.invoke({ messages: [new HumanMessage('Refund it.'), said(...BOTH)] }, config)
    await expect.poll(() => effects.all().length, PATIENT).toBeGreaterThanOrEqual(least)
    const [refunded, answered] = results(await graph.invoke(new Command({ resume: 'yes' }), config))
    expect(effects.all()).toHaveLength(1)
    expect(JSON.parse(refunded as string)).toMatchObject({ ok: true, data: { amount: 14_000 } })
    expect(answered).toBe('yes')
  },
)

test('[R20] the same call in another thread is another refund', async () => {
  const graph = openGraph()
  for (const thread_id of ['one', 'two'])
    await graph.invoke({ messages: [said(...BOTH)] }, { configurable: { thread_id } })
  await expect.poll(() => new Set(effects.all().map(({ key }) => key)).size, PATIENT).toBe(2)
})

test('[R20] a fork from before the tool gets what the first branch did', async () => {
  const model = fakeModel().respond(said(call('issue_refund', REFUND, 'call_1')))
  const agent = createAgent({
    model: model.respond(end).respond(end),
    middleware: [langchainMiddleware(broker)],
    checkpointer: new MemorySaver(),
  })
  const config = { configurable: { thread_id: 'thread' } }
  const first = await agent.invoke({ messages: [new HumanMessage('Refund it.')] }, config)
  const before = []
  for await (const state of agent.graph.getStateHistory(config))
    if (state.next[0] === 'tools') before.push(state)
  expect(before).toHaveLength(1)
  const forked = await agent.graph.invoke(null, before[0]?.config)
  expect(effects.all()).toHaveLength(1)
  expect(results(forked as typeof first)).toEqual(results(first))
})

test('the middleware lets the tools of others pass', async () => {
  const other = tool(() => 'looked', { name: 'look', description: 'Looks.', schema: NOTHING })
  const model = fakeModel().respond(said(call('look', {}, 'call_1')))
  const agent = createAgent({
    model: model.respond(new AIMessage('done')),
    tools: [other],
    middleware: [langchainMiddleware(broker)],
  })
  expect(results(await agent.invoke({ messages: [new HumanMessage('Look.')] }))).toEqual(['looked'])
})

test('[R25] what a client writes into configurable names no tenant and no right', async () => {
  const [refund] = langchainTools(broker)
  const configurable = { thread_id: 'thread', tenant: 'other', ibid: { tenant: 'other', runId: 'mine' } }
  await refund?.invoke(call('issue_refund', REFUND, 'call_1'), { configurable })
  expect((await ibid.list({ tenant: 'other' })).receipts).toEqual([])
  expect((await ibid.list()).receipts).toHaveLength(1)
})

test('[R35] an error is a tool message of status error; by hand, without an id, it is the text alone', async () => {
  const [refund] = langchainTools(broker, { context: { runId: 'run' } })
  const wrong = (await refund?.invoke(call('issue_refund', { amount: 1 }, 'call_1'))) as ToolMessage
  expect(wrong).toMatchObject({ status: 'error', tool_call_id: 'call_1', name: 'issue_refund' })
  expect(wrong.content).toContain('"field":"payment"')
  expect(JSON.parse((await refund?.invoke({ amount: 1 })) as string)).toMatchObject({ ok: false })
  expect(JSON.parse((await refund?.invoke(REFUND)) as string)).toMatchObject({ ok: true })
})

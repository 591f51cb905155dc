/** Where an adapter finds out which run a call belongs to: the program's word, an engine's step, and a mistake. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import { Agent, RunContext, RunToolApprovalItem } from '@openai/agents'
import { type } from 'arktype'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { anthropicTools } from '../../src/adapters/anthropic.js'
import { aiSdkTools } from '../../src/adapters/ai-sdk.js'
import { langchainTools } from '../../src/adapters/langchain.js'
import { openaiAgentsTools } from '../../src/adapters/openai-agents.js'
import type { AdapterOptions, HostCall } from '../../src/adapters/host/answer.js'
import {
  type Broker,
  type CallContext,
  createBroker,
  defineTool,
  type ModelObservation,
  stepIds,
} from '../../src/guards/broker/index.js'
import type { Ibid } from '../../src/index.js'
import type { Ledger } from '../../src/testing/index.js'
import { AGENTS } from '../fixtures/agents/index.mjs'
import { openBroker, REFUND } from '../fixtures/agents/refund-tool.mjs'

let folder: string
let broker: Broker
let effects: Ledger
let ibid: Ibid

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-host-'))
  ;({ broker, effects, ibid } = openBroker(folder))
})

afterEach(async () => {
  await ibid.close()
  await rm(folder, { recursive: true, force: true })
})

const LOGS: Readonly<Record<string, () => never>> = {
  'at once': () => {
    throw new TypeError('the log is full')
  },
  later: (() => Promise.reject(new TypeError('the log is full'))) as unknown as () => never,
}

/** Contexts as the engines hand them to a step: the attempt is in them, and changes; the ids do not. */
const CONTEXTS = {
  temporal: (attempt: number) => ({
    workflowExecution: { workflowId: 'wf', runId: 'run' },
    activityId: '3',
    attempt,
  }),
  restate: (attempt: number) => ({ request: () => ({ id: new Uint8Array([1, 2]), attempt }) }),
  dbos: (attempt: number) => ({ workflowID: 'wf', stepID: 3, stepStatus: { currentAttempt: attempt } }),
  inngest: (attempt: number) => ({ runId: 'run', attempt }),
  triggerDev: (attempt: number) => ({ run: { id: 'run_1' }, attempt: { number: attempt } }),
}

const ENGINES: Readonly<Record<string, (attempt: number) => CallContext>> = {
  Temporal: (attempt) => stepIds.temporal(CONTEXTS.temporal(attempt)),
  Restate: (attempt) => stepIds.restate(CONTEXTS.restate(attempt), 'refund'),
  DBOS: (attempt) => stepIds.dbos(CONTEXTS.dbos(attempt)),
  Inngest: (attempt) => stepIds.inngest(CONTEXTS.inngest(attempt), { hashedId: 'a1b2' }),
  'Trigger.dev': (attempt) => stepIds.triggerDev(CONTEXTS.triggerDev(attempt), 'refund'),
}

describe.each(Object.entries(ENGINES))('in a step of %s', (_engine, stepOf) => {
  test.each(Object.entries(AGENTS))(
    '[R20] %s: a second attempt of the step does nothing',
    async (_name, load) => {
      const agent = await load()
      const attempt = (number: number): Promise<string[]> =>
        agent.fresh({ broker, place: stepOf(number), calls: [REFUND] })
      expect(await attempt(2)).toEqual(await attempt(1))
      expect(effects.all()).toHaveLength(1)
    },
  )
})

describe.each(Object.entries(AGENTS))('%s', (_name, load) => {
  test('[R20] the run can come out of an AsyncLocalStorage, and goes before what the framework says', async () => {
    const agent = await load()
    const current = new AsyncLocalStorage<CallContext>()
    const calls: HostCall<unknown>[] = []
    const context = (call: HostCall<unknown>): CallContext => {
      calls.push(call)
      return current.getStore() ?? {}
    }
    const options = { context } as AdapterOptions<never>
    const inRun = (runId: string): Promise<string[]> =>
      current.run({ runId, stepId: 'step' }, () =>
        agent.fresh({ broker, place: { runId: 'framework' }, calls: [REFUND], options }),
      )
    const [one] = await Promise.all([inRun('one'), inRun('two'), inRun('one')])
    expect(effects.all()).toHaveLength(2)
    expect(one).toHaveLength(1)
    expect(calls.map(({ tool, args, toolCallId }) => [tool, args, typeof toolCallId])).toEqual(
      Array.from({ length: 3 }, () => ['issue_refund', REFUND, 'string']),
    )
  })

  test('[R20] a mistake of the program is not carried out, and says what is missing', async () => {
    const agent = await load()
    const order = { broker, place: {}, calls: [REFUND] }
    // Some frameworks end the run with it, the others give it to the model.
    const [told] = await agent.fresh(order).catch((error: unknown) => [String(error)])
    expect(told).toContain('the context names no run')
    expect(told).toContain('nothing was executed')
    expect(effects.all()).toEqual([])
  })

  test('[R21] without a run an id counts nowhere: the arguments of a principal are what is left', async () => {
    const agent = await load()
    const order = { broker, place: { principal: 'ada' }, calls: [REFUND], options: { stored: true } }
    expect((await agent.fresh(order))[0]).toContain('"ok":true')
    expect((await agent.fresh(order))[0]).toContain('"code":"NEEDS_HUMAN"')
    expect(effects.all()).toHaveLength(1)
  })

  test.each(Object.entries(LOGS))('a log that throws %s loses no answer', async (_when, observe) => {
    const shown = await (
      await load()
    ).fresh({
      broker,
      place: { runId: 'run' },
      calls: [REFUND],
      options: { observe },
    })
    expect(shown[0]).toContain('"ok":true')
  })
})

const toolUse = { type: 'tool_use' as const, id: 'toolu_1', name: 'issue_refund', input: {} }

test('[R35] an observation of an error is marked as one in the way of the framework', async () => {
  const [refund] = anthropicTools(broker, { context: { runId: 'run' } })
  const run = async (): Promise<unknown> => await refund?.run({}, { toolUse, toolUseBlock: toolUse })
  await expect(run()).rejects.toBeInstanceOf(ToolError)

  const { issue_refund: tool } = aiSdkTools(broker, { context: { runId: 'run' } })
  const call = { toolCallId: 'call_1', messages: [], input: {} }
  const outputOf = async (args: object): Promise<unknown> => {
    const output = (await tool?.execute?.(args, call)) as ModelObservation
    return tool?.toModelOutput?.({ ...call, output })
  }
  expect(await outputOf({})).toMatchObject({ type: 'error-json', value: { ok: false } })
  expect(await outputOf(REFUND)).toMatchObject({ type: 'json', value: { ok: true } })
})

test('[R21] an approval of all calls to come makes no id a stored one', async () => {
  const [refund] = openaiAgentsTools(broker, { context: { runId: 'run' } })
  const runContext = new RunContext()
  const rawItem = { type: 'function_call', callId: 'call_0', name: 'issue_refund', arguments: '{}' } as const
  const agent = new Agent({ name: 'clerk' })
  runContext.approveTool(new RunToolApprovalItem(rawItem, agent), { alwaysApprove: true })
  const call = async (callId: string): Promise<unknown> =>
    await refund?.invoke(runContext, JSON.stringify(REFUND), { toolCall: { ...rawItem, callId } })
  expect(await call('call_1')).toMatchObject({ ok: true })
  expect(await call('call_2')).toMatchObject({ ok: false, error: { code: 'NEEDS_HUMAN' } })
  expect(effects.all()).toHaveLength(1)
})

test('[R21] an id that the model gives to one call after another makes none of them a stored one', async () => {
  const { issue_refund: refund } = aiSdkTools(broker, { context: { runId: 'run' } })
  const call = { type: 'tool-call' as const, toolCallId: 'call_0', toolName: 'issue_refund', input: REFUND }
  const asked = { role: 'assistant' as const, content: [call] }
  const output = { type: 'json' as const, value: null }
  const answered = { role: 'tool' as const, content: [{ ...call, type: 'tool-result' as const, output }] }
  const twice = { ...asked, content: [call, call] }
  const histories = [[], [asked, answered], [asked, answered, asked], [asked, asked], [twice]]
  const shown: unknown[] = []
  for (const messages of histories)
    shown.push(await refund?.execute?.(REFUND, { toolCallId: 'call_0', messages }))
  expect(shown[0]).toMatchObject({ ok: true })
  for (const again of shown.slice(1))
    expect(again).toMatchObject({ ok: false, error: { code: 'NEEDS_HUMAN' } })
  expect(effects.all()).toHaveLength(1)
})

test.each(['{"payment":', ''])(
  '[R35] OpenAI: arguments that are no JSON (%j) do not end the run',
  async (input) => {
    const [refund] = openaiAgentsTools(broker, { context: { runId: 'run' } })
    const told = await refund?.invoke(new RunContext(), input)
    expect(told).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS', retriable: false } })
    expect(effects.all()).toEqual([])
  },
)

test('the context of AI SDK 7 is read where it has one', async () => {
  const { issue_refund: refund } = aiSdkTools(broker)
  const info = { toolCallId: 'call_1', messages: [], context: { ibid: { runId: 'run', stepId: 'step' } } }
  await refund?.execute?.(REFUND, info)
  await refund?.execute?.(REFUND, { ...info, toolCallId: 'call_2' })
  expect(effects.all()).toHaveLength(1)
})

test('a call that was cancelled before it began is not carried out', async () => {
  const { issue_refund: refund } = aiSdkTools(broker, { context: { runId: 'run' } })
  const info = { toolCallId: 'call_1', messages: [], abortSignal: AbortSignal.abort() }
  expect(await refund?.execute?.(REFUND, info)).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
  expect(effects.all()).toEqual([])
})

const VENDORS = {
  zod: z.object({ id: z.string() }),
  arktype: type({ id: 'string' }),
  'JSON Schema': { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
}

test.each(Object.entries(VENDORS))(
  'a model is shown an input of %s as plain JSON Schema',
  (_vendor, input) => {
    const look = defineTool({ name: 'look', version: '1.0.0', effect: 'read', input, execute: () => 1 })
    const tools = createBroker({ ibid, tools: [look], tenant: 'harbor' })
    const [agents] = openaiAgentsTools(tools)
    const [runner] = anthropicTools(tools, {})
    const [chain] = langchainTools(tools)
    const schemas = [agents?.parameters, (runner as { input_schema?: unknown }).input_schema, chain?.schema]
    for (const schema of schemas) {
      expect(schema).toMatchObject({
        type: 'object',
        properties: { id: { type: 'string' } },
        required: ['id'],
      })
      expect(schema).not.toHaveProperty('~standard')
    }
  },
)

test('a tool whose input no model can be shown is refused when the tools are made', () => {
  const mute = {
    '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) },
  } as const
  const look = defineTool({ name: 'look', version: '1.0.0', effect: 'read', input: mute, execute: () => 1 })
  const tools = createBroker({ ibid, tools: [look], tenant: 'harbor' })
  expect(() => aiSdkTools(tools)).toThrow(expect.objectContaining({ code: 'INVALID_INTENT' }))
})

/** The key ladder, a test for each rung; and the stable ids of workflow engines. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type CallContext, stepIds, stepKey } from '../../src/guards/broker/index.js'
import { ARGS, type Bench, benchOf, refundTool } from './bench.js'

const tenant = 'acme'
let effects: number
let bench: Bench

beforeEach(() => {
  effects = 0
  bench = benchOf([refundTool({ execute: () => ({ id: `re_${++effects}` }) })])
})

async function call(context: CallContext, args: unknown = ARGS): Promise<unknown> {
  const observation = await bench.broker.call('issue_refund', args, { tenant, ...context })
  return observation.ok ? [observation.data, observation._idempotency.replay] : observation.error.code
}

describe('[R20][R21] a rung of the key ladder', () => {
  test('1: the step of a workflow. A new tool-call id does not matter', async () => {
    expect(await call({ runId: 'r', stepId: 's', toolCallId: 'call_1' })).toEqual([{ id: 're_1' }, false])
    expect(await call({ runId: 'r', stepId: 's', toolCallId: 'call_2' })).toEqual([{ id: 're_1' }, true])
    expect(await call({ runId: 'r', stepId: 't', toolCallId: 'call_1' })).toEqual([{ id: 're_2' }, false])
    expect(await call({ runId: 'q', stepId: 's', toolCallId: 'call_1' })).toEqual([{ id: 're_3' }, false])
  })

  test('2: run or conversation and tool-call id. The id alone is nothing', async () => {
    expect(await call({ runId: 'r', toolCallId: 'call_1' })).toEqual([{ id: 're_1' }, false])
    expect(await call({ runId: 'r', toolCallId: 'call_1' })).toEqual([{ id: 're_1' }, true])
    expect(await call({ runId: 'r', toolCallId: 'call_2' })).toEqual([{ id: 're_2' }, false])
    expect(await call({ runId: 'q', toolCallId: 'call_1' })).toEqual([{ id: 're_3' }, false])
    await expect(call({ toolCallId: 'call_1' })).rejects.toMatchObject({ code: 'INVALID_INTENT' })
  })

  test("3: the host's own key. Used for other arguments, it is the host's mistake", async () => {
    expect(await call({ hostKey: 'h' })).toEqual([{ id: 're_1' }, false])
    expect(await call({ hostKey: 'h' })).toEqual([{ id: 're_1' }, true])
    expect(await call({ hostKey: 'h' }, { ...ARGS, amount: 1 })).toBe('KEY_REUSED')
    expect(await call({ hostKey: 'i' })).toEqual([{ id: 're_2' }, false])
    expect(await call({ hostKey: 'j', principal: 'ana' })).toEqual([{ id: 're_3' }, false])
    expect(await call({ hostKey: 'j', principal: 'ana' })).toEqual([{ id: 're_3' }, true])
    for (const other of [{ principal: 'bob' }, {}])
      expect(await call({ hostKey: 'j', ...other })).toBe('KEY_REUSED')
    expect(effects).toBe(3)
  })

  test('4: the arguments. A second call is not made and not replayed: it asks', async () => {
    expect(await call({ runId: 'r' })).toEqual([{ id: 're_1' }, false])
    const again = await bench.broker.call(
      'issue_refund',
      { ...ARGS, reason: 'in other words' },
      { tenant, runId: 'r' },
    )
    expect(again).toMatchObject({
      ok: false,
      error: { code: 'NEEDS_HUMAN', retriable: false, data: { first: { result: { id: 're_1' } } } },
      _idempotency: { replay: true },
    })
    expect(await call({ runId: 'r' }, { ...ARGS, amount: 1 })).toEqual([{ id: 're_2' }, false])
    expect(await call({ principal: 'ana' })).toEqual([{ id: 're_3' }, false])
    expect(await call({ runId: 'r', ordinal: 1 })).toEqual([{ id: 're_4' }, false])
    expect(effects).toBe(4)
  })

  test('4: remembers for a short while only', async () => {
    await call({ runId: 'r' })
    await call({ runId: 'r', stepId: 's' })
    const { receipts } = await bench.ibid.list()
    expect(receipts.map(({ windowMs }) => windowMs).toSorted((a, b) => a - b)).toEqual([600_000, 86_400_000])
  })
})

test('[R1][R21] tenant, tool and ordinal are in every key, and no rung meets another', () => {
  const contexts = [
    { runId: 'x', stepId: 'x' },
    { runId: 'x', toolCallId: 'x' },
    { hostKey: 'x' },
    { runId: 'x' },
    { principal: 'x' },
    { runId: 'x', principal: 'x' },
    { runId: 'x', stepId: 'x', ordinal: 1 },
  ]
  const keys = contexts.flatMap((context) => [
    stepKey({ ...context, tenant: 'a' }, 'tool', {}).key,
    stepKey({ ...context, tenant: 'b' }, 'tool', {}).key,
    stepKey({ ...context, tenant: 'a' }, 'other', {}).key,
  ])
  expect(new Set(keys).size).toBe(keys.length)
})

/** An activity of Temporal that no workflow started. */
const standing = (attempt: number, activityRunId: string) =>
  stepIds.temporal(Object.assign({ activityId: 'a', activityRunId }, { attempt, inWorkflow: false }))

describe('[R20] the ids of a step are the same at every attempt of', () => {
  const cases = {
    Temporal: (attempt: number, activityId = 'a') =>
      stepIds.temporal(
        Object.assign({ workflowExecution: { workflowId: 'w', runId: 'r' }, activityId }, { attempt }),
      ),
    Restate: (attempt: number, name = 'a') =>
      stepIds.restate({ request: () => Object.assign({ id: Uint8Array.of(1, 2, 255) }, { attempt }) }, name),
    DBOS: (attempt: number, id = 'a') =>
      stepIds.dbos(Object.assign({ workflowID: 'w', stepID: id.charCodeAt(0) }, { stepStatus: { attempt } })),
    Inngest: (attempt: number, hashedId = 'a') =>
      stepIds.inngest(Object.assign({ runId: 'r' }, { attempt }), { hashedId }),
    'Trigger.dev': (attempt: number, name = 'a') =>
      stepIds.triggerDev(Object.assign({ run: { id: 'r' } }, { attempt: { number: attempt } }), name),
  }

  test.each(Object.entries(cases))('%s', async (_, ids) => {
    expect(ids(2)).toEqual(ids(1))
    expect(ids(1, 'b')).not.toEqual(ids(1, 'a'))
    expect(ids(1, 'b').runId).toBe(ids(1, 'a').runId)
    expect(await call(ids(1))).toEqual([{ id: 're_1' }, false])
    expect(await call(ids(2))).toEqual([{ id: 're_1' }, true])
  })

  test('all, and no two engines share ids', () => {
    const runs = Object.values(cases).map((ids) => ids(1).runId)
    expect(new Set(runs).size).toBe(runs.length)
  })

  test('an activity of Temporal that no workflow started: its own run is the run', async () => {
    expect(standing(2, 'r')).toEqual(standing(1, 'r'))
    expect(standing(1, 'q').runId).not.toBe(standing(1, 'r').runId)
    expect(await call(standing(1, 'r'))).toEqual([{ id: 're_1' }, false])
    expect(await call(standing(2, 'r'))).toEqual([{ id: 're_1' }, true])
    expect(await call(standing(1, 'q'))).toEqual([{ id: 're_2' }, false])
  })

  test('none, outside of a step: that is said', () => {
    expect(() => stepIds.dbos({ workflowID: 'w' })).toThrow(/no id for this step/)
    expect(() => stepIds.temporal({ activityId: 'a' })).toThrow(/no id for this step/)
  })
})

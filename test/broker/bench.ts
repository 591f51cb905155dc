/** What the tests of the broker share: an ibid in memory, a refund tool to vary, and a pace that waits for nobody. */
import { onTestFinished } from 'vitest'
import { createIbid, type Ibid } from '../../src/index.js'
import {
  type Broker,
  type BrokerOptions,
  type Contract,
  createBroker,
  defineTool,
  type Observation,
  type Pace,
  type Tool,
} from '../../src/guards/broker/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

export const CONTEXT = { tenant: 'acme', runId: 'run_81', stepId: 'step_3' } as const

export const REFUND_SCHEMA = {
  type: 'object',
  properties: {
    payment: { type: 'string' },
    amount: { type: 'integer' },
    reason: { type: 'string', non_idempotent: true },
  },
  required: ['payment', 'amount'],
} as const

export const ARGS = { payment: 'pay_1', amount: 4_200 } as const

/** A refund that nothing else is known about; `over` changes what a test is about. */
export function refundTool(over: object = {}): Tool {
  return defineTool({
    name: 'issue_refund',
    version: '2.1.0',
    effect: 'write-non-idempotent',
    input: REFUND_SCHEMA,
    execute: () => ({ id: 're_1' }),
    ...over,
  } as Contract)
}

export interface TestPace extends Pace {
  /** Every pause that was made, in milliseconds. */
  readonly pauses: number[]
}

/** Pauses take no time, and are seen to have passed. */
function instantPace(): TestPace {
  let passedMs = 0
  const pauses: number[] = []
  return {
    pauses,
    elapsedMs: () => performance.now() + passedMs,
    async pause(ms) {
      pauses.push(ms)
      passedMs += ms
    },
    random: () => 0.5,
  }
}

export interface Bench {
  readonly ibid: Ibid
  readonly broker: Broker
  readonly pace: TestPace
}

/** Closed with the test that asked for it. */
export function benchOf(tools: BrokerOptions['tools'], over: Partial<BrokerOptions> = {}): Bench {
  const ibid = createIbid({ store: memoryStore(), housekeeping: false })
  onTestFinished(() => ibid.close())
  const pace = instantPace()
  return { ibid, pace, broker: createBroker({ ibid, tools, pace, ...over }) }
}

export function errorCode(observation: Observation): string | undefined {
  return observation.ok ? undefined : observation.error.code
}

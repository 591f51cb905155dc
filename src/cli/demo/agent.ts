/**
 * The refund agent: refund the charge, then confirm it by e-mail. The "model" words its reason anew at every call, and
 * where the storm says so it plans again and calls the tool once more. Which of run, step and tool are guarded is a
 * matter of layers; the agent's own code is the same.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { IbidError, OutcomeUnknown } from '../../core/errors.js'
import { createBroker, type Observation } from '../../guards/broker/index.js'
import { createRuns, type Link, type Run, type Runs, type StepOptions } from '../../guards/run/index.js'
import type { Ibid } from '../../ibid.js'
import type { Done, EffectClient } from './effect-client.js'
import { mailAsStep, mailUnguarded } from './confirmation.js'
import type { Layer } from './layers.js'
import { LEASE_MS, MOST_ATTEMPTS } from './leases.js'
import { REFUND, REFUND_RIGHT, type RefundArguments, refundTool } from './refund-tool.js'
import type { Order } from './storm.js'
import { insist } from './unguarded.js'

export interface AgentOptions {
  readonly layers: readonly Layer[]
  /** Undefined where no layer is on. */
  readonly ibid: Ibid | undefined
  readonly ledger: EffectClient
  readonly mail: EffectClient
  readonly replansOf: (charge: string) => number
}

export interface Agent {
  handle(order: Order, via: readonly Link[]): Promise<void>
  close(): Promise<void>
}

/** What the agent's code needs of a run. */
type Working = Pick<Run, 'runId' | 'step'>

const AGENT = 'refunds'
const REASONS = [
  'the customer asked for it',
  'refund as requested',
  'charge disputed by the customer',
  'goodwill',
]

export function createAgent(options: AgentOptions): Agent {
  const { layers, ibid, ledger, mail, replansOf } = options
  const isOn = (layer: Layer): boolean => ibid !== undefined && layers.includes(layer)
  const issue = isOn('tool') && ibid ? guardedTool(ibid, ledger) : openTool(ledger)
  const confirm = isOn('run') && isOn('step') ? mailAsStep : mailUnguarded

  async function work(order: Order, run: Working): Promise<void> {
    for (let turn = 0; turn <= replansOf(order.charge); turn++) {
      const { charge, amountCents } = order
      // Asking the broker again is safe, whatever became of the worker: its receipt decides.
      const how: StepOptions<Done> = { recovery: 'retry', maxAttempts: MOST_ATTEMPTS }
      await run.step(
        `refund, turn ${turn + 1}`,
        async () => await issue({ charge, amountCents, reason: words() }, run.runId),
        how,
      )
    }
    await confirm(mail, order, run)
  }

  if (!isOn('run') || !ibid) {
    return {
      handle: async (order) => await work(order, { runId: randomUUID(), step: unrecorded }),
      close: async () => undefined,
    }
  }
  const runs = startRuns(ibid)
  runs.register(AGENT, async (run) => {
    await work(run.trigger as Order, isOn('step') ? run : { runId: run.runId, step: unrecorded })
  })
  return {
    async handle(order, via) {
      // One run per charge, whoever asked for it.
      await runs.start({ agent: AGENT, key: order.charge, trigger: order, via })
    },
    close: async () => await runs.close(),
  }
}

function startRuns(ibid: Ibid): Runs {
  const policy = { lease: LEASE_MS, wait: '30s', maxAttempts: MOST_ATTEMPTS } as const
  return createRuns({ ibid, policy, recoverEvery: 250 })
}

/** A step that is only a call. */
const unrecorded: Run['step'] = async (_name, fn) => await fn(NO_STEP)
const NO_STEP = undefined as never

function openTool(ledger: EffectClient): (args: RefundArguments) => Promise<Done> {
  return async (args) => await insist(async (reference) => await ledger.post({ ...args, reference }))
}

function guardedTool(
  ibid: Ibid,
  ledger: EffectClient,
): (args: RefundArguments, runId: string) => Promise<Done> {
  const broker = createBroker({ ibid, tools: [refundTool(ledger)] })
  // A run refunds once: every call of the tool in it is the same step, however the model got there.
  return async (args, runId) => {
    const context = { runId, stepId: 'refund', scopes: [REFUND_RIGHT] }
    return dataOf(await broker.call(REFUND, args, context))
  }
}

function dataOf(observation: Observation): Done {
  if (observation.ok) return observation.data as Done
  const { code, message, retriable, retry_after_ms: retryAfterMs, action } = observation.error
  if (code === 'OUTCOME_UNKNOWN' || code === 'NEEDS_HUMAN') throw new OutcomeUnknown(message)
  // Nothing is said about the refund: the next attempt asks the broker again, under the same key.
  throw new IbidError(message, { code, retriable, retryAfterMs, action })
}

function words(): string {
  return `${REASONS[randomInt(REASONS.length)] ?? ''} (${randomUUID().slice(0, 8)})`
}

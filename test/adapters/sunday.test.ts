/**
 * The Sunday incident, with a real agent loop of every framework: the process of the agent is gone between the
 * refund and the answer, and the agent is run again in new processes, by an engine that knows its step or from what
 * its framework has kept. One refund leaves the bank, and the model sees the same each time.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ledger } from '../../src/testing/index.js'
import { startChild } from '../../src/testing/process/start.js'
import { tally } from '../../src/testing/tally.js'
import { AGENTS } from '../fixtures/agents/index.mjs'
import { openBroker, REFUND } from '../fixtures/agents/refund-tool.mjs'

const SCRIPT = new URL('../fixtures/agents/worker.mjs', import.meta.url)
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-agents-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

interface Order {
  readonly agent: string
  readonly verb: 'fresh' | 'resume'
  readonly place: { readonly runId: string; readonly stepId?: string }
  readonly calls: readonly object[]
}

/** In a process of its own, to its end. */
async function inProcess(order: Order): Promise<string[]> {
  const child = startChild(SCRIPT)
  try {
    return await child.call<string[]>('work', { ...order, folder })
  } finally {
    await child.end()
  }
}

async function killedAfterEffect(order: Order): Promise<void> {
  const child = startChild(SCRIPT)
  const answered = child.call('work', { ...order, folder, die: true }).then(
    () => 'answered',
    () => 'not answered',
  )
  expect(await child.ended).toBe('SIGKILL')
  tally({ kills: 1 })
  expect(await answered).toBe('not answered')
}

/** The first replay has to find out what happened; the others, all at once, find it written down. */
async function fourReplays(order: Order): Promise<string[][]> {
  const first = await inProcess(order)
  return [first, ...(await Promise.all([inProcess(order), inProcess(order), inProcess(order)]))]
}

/** Stores the decided call in the framework's own way; nothing is executed yet. */
async function begin({ agent, place, calls }: Omit<Order, 'verb'>): Promise<void> {
  const { broker, ibid } = openBroker(folder)
  const run = await (AGENTS[agent] as (typeof AGENTS)[string])()
  await run.begin({ broker, place, calls: calls as (typeof REFUND)[] }, join(folder, 'kept'))
  await ibid.close()
}

const SHOWN = JSON.stringify({
  ok: true,
  data: { id: 're_pay_8123', amount: 14_000, note: 'paid with [redacted] under [key]' },
})

interface Way {
  readonly way: string
  readonly place: Order['place']
  readonly kept: boolean
}

const WAYS: readonly Way[] = [
  {
    way: 'run again from the prompt, in a step that its engine knows',
    place: { runId: 'wf_81', stepId: 'step_3' },
    kept: false,
  },
  { way: 'resumed from what the framework kept', place: { runId: 'wf_81' }, kept: true },
]

describe.each(Object.keys(AGENTS))('%s', (agent) => {
  test.each(WAYS)(
    '[R20] [R37] [R61] killed between effect and answer, and $way, four times: one refund',
    async ({ place, kept }) => {
      const order = { agent, place, calls: [REFUND] }
      const again: Order = { ...order, verb: kept ? 'resume' : 'fresh' }
      if (kept) await begin(order)
      await killedAfterEffect(again)
      const effects = ledger(join(folder, 'effects.jsonl'))
      expect(effects.all()).toHaveLength(1)

      expect(await fourReplays(again)).toEqual(Array.from({ length: 4 }, () => [SHOWN]))
      expect(effects.all()).toHaveLength(1)
    },
  )
})

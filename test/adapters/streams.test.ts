/**
 * Streaming agent loops, cut in the middle: the program lets go of the stream while the tool is at work, or the model's
 * reply breaks off behind the call, when a framework may have begun the tool already. Then the loop is run again.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Broker } from '../../src/guards/broker/index.js'
import type { Ibid } from '../../src/index.js'
import type { Ledger } from '../../src/testing/index.js'
import { type AgentOrder, AGENTS } from '../fixtures/agents/index.mjs'
import { openBroker, REFUND } from '../fixtures/agents/refund-tool.mjs'

/** Begins a tool while the reply that calls it is still streaming, where it is told to; the others wait for its end. */
const EAGER = 'anthropic'
const SHOWN = JSON.stringify({
  ok: true,
  data: { id: 're_pay_8123', amount: 14_000, note: 'paid with [redacted] under [key]' },
})
const STEP = { runId: 'run', stepId: 'step' }

let folder: string
let broker: Broker
let effects: Ledger
let ibid: Ibid
let open: () => void

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-streams-'))
  const gate = new Promise<void>((resolve) => (open = resolve))
  ;({ broker, effects, ibid } = openBroker(folder, { gate: () => gate }))
})

afterEach(async () => {
  open()
  await ibid.close()
  await rm(folder, { recursive: true, force: true })
})

async function happened(): Promise<void> {
  await expect.poll(() => effects.all().length, { timeout: 30_000 }).toBe(1)
}

const order = (more: Partial<AgentOrder> = {}): AgentOrder => ({
  broker,
  place: STEP,
  calls: [REFUND],
  ...more,
})

describe.each(Object.entries(AGENTS))('%s', (name, load) => {
  /** Lets go of the stream while the tool is at work. The tool is seen through. */
  async function letGo(place: AgentOrder['place']): Promise<unknown> {
    const agent = await load()
    const program = new AbortController()
    const cut = agent.stream(order({ place, signal: program.signal })).catch(() => [])
    await happened()
    program.abort(new Error('the browser is gone'))
    open()
    return await cut
  }

  test('[R37] a stream that is read to its end shows what a loop without one shows', async () => {
    open()
    const agent = await load()
    expect(await agent.stream(order())).toEqual([SHOWN])
    expect(await agent.fresh(order())).toEqual([SHOWN])
    expect(effects.all()).toHaveLength(1)
  })

  test('[R20] [R37] let go while the tool is at work, and run again: one effect, the same observation', async () => {
    await letGo(STEP)
    const agent = await load()
    expect(await Promise.all([agent.stream(order()), agent.stream(order())])).toEqual([[SHOWN], [SHOWN]])
    expect(await agent.fresh(order())).toEqual([SHOWN])
    expect(effects.all()).toHaveLength(1)
  })

  test('[R20] [R37] the reply breaks off behind the call, and the loop is run again: one effect', async () => {
    const agent = await load()
    const isEager = name === EAGER
    const broken = isEager ? happened : (): Promise<void> => Promise.resolve()
    await expect(agent.stream(order({ broken }))).rejects.toThrow(/terminated/)
    expect(effects.all()).toHaveLength(isEager ? 1 : 0)
    open()
    expect(await agent.stream(order())).toEqual([SHOWN])
    expect(effects.all()).toHaveLength(1)
  })

  test('[R21] let go, and nothing but the arguments to go by: the second run asks, with the first result', async () => {
    const place = { runId: 'run' }
    await letGo(place)
    const [again] = await (await load()).stream(order({ place }))
    expect(JSON.parse(again as string)).toMatchObject({
      ok: false,
      error: { code: 'NEEDS_HUMAN', data: { first: { result: { id: 're_pay_8123' } } } },
    })
    expect(effects.all()).toHaveLength(1)
  })
})

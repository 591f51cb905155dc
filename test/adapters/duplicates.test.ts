/**
 * The duplicates that users of each framework report, and what the key ladder makes of them: one effect, or the
 * question to a person where only the arguments are left to go by. One table for all frameworks.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Broker, Observation } from '../../src/guards/broker/index.js'
import type { Ibid } from '../../src/index.js'
import type { Ledger } from '../../src/testing/index.js'
import { type Agent, AGENTS } from '../fixtures/agents/index.mjs'
import { openBroker, REFUND, SECRET } from '../fixtures/agents/refund-tool.mjs'

const REPORTED: Readonly<Record<string, string>> = {
  'ai-sdk': 'the same approval posted twice',
  'langchain, middleware': 'the same checkpoint resumed twice, its tool node run again',
  'langchain, plain tools': 'the same checkpoint resumed twice, its tool node run again',
  'openai-agents': 'one serialized state resumed twice',
  anthropic: 'the same stored messages picked up twice',
}

/** This SDK finds out by itself that an approved call was changed. */
const FOUND_OUT: Readonly<Record<string, RegExp>> = { 'openai-agents': /reused for a different invocation/ }

let folder: string
let broker: Broker
let effects: Ledger
let ibid: Ibid

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-agents-'))
  ;({ broker, effects, ibid } = openBroker(folder))
})

afterEach(async () => {
  await ibid.close()
  await rm(folder, { recursive: true, force: true })
})

interface Told {
  readonly ok: boolean
  readonly data?: unknown
  readonly error?: {
    readonly code: string
    readonly retriable: boolean
    readonly data?: { readonly first: { readonly result: unknown } }
    readonly fields?: readonly { readonly field: string }[]
  }
}

const read = (shown: readonly string[]): Told[] => shown.map((text) => JSON.parse(text) as Told)
const keys = (): string[] => effects.all().map(({ key }) => key)

describe.each(Object.entries(AGENTS))('%s', (name, load) => {
  const run = async (verb: 'fresh' | 'resume', order: Partial<Parameters<Agent['fresh']>[0]>) =>
    (await load())[verb]({ broker, place: { runId: 'run' }, calls: [REFUND], ...order }, join(folder, 'kept'))
  const begin = async (calls: readonly object[] = [REFUND]) => {
    const order = { broker, place: { runId: 'run' }, calls: calls as (typeof REFUND)[] }
    await (await load()).begin(order, join(folder, 'kept'))
  }

  test(`[R20] [R37] ${REPORTED[name]}, at once and later: one effect, and the same observation`, async () => {
    await begin()
    expect(effects.all()).toEqual([])
    const twice = await Promise.all([run('resume', {}), run('resume', {})])
    const later = await run('resume', {})
    expect(effects.all()).toHaveLength(1)
    expect(read(later)[0]).toMatchObject({ ok: true, data: { id: 're_pay_8123', amount: 14_000 } })
    expect([...twice, later]).toEqual([later, later, later])
  })

  test('[R38] a stored call that comes back with other arguments is not carried out', async () => {
    await begin()
    await run('resume', {})
    const kept = join(folder, 'kept')
    await writeFile(kept, (await readFile(kept, 'latin1')).replaceAll('14000', '99000'), 'latin1')
    const [changed] = await run('resume', {}).catch((error: unknown) => [String(error)])
    expect(changed).toMatch(
      FOUND_OUT[name] ?? /^\{"ok":false,"error":\{"code":"DIVERGED_REPLAY".*"amount":14000/,
    )
    expect(effects.all()).toHaveLength(1)
  })

  test('[R20] two tool-call ids for one call, in a step that is known: one effect, the same observation', async () => {
    const place = { runId: 'run', stepId: 'step' }
    const [first, second] = await run('fresh', { place, calls: [REFUND, { ...REFUND, reason: 'again' }] })
    expect(second).toBe(first)
    expect(effects.all()).toHaveLength(1)
  })

  test('[R21] two tool-call ids for one call, and nothing but its arguments to go by: a person is asked', async () => {
    const [first] = read(await run('fresh', {}))
    const [second] = read(await run('fresh', {}))
    expect(effects.all()).toHaveLength(1)
    expect(second?.error).toMatchObject({ code: 'NEEDS_HUMAN', retriable: false })
    expect(second?.error?.data?.first.result).toEqual(first?.data)
  })

  test('[R21] a program that stores messages before tools run may take two ids for two calls', async () => {
    await run('fresh', { options: { stored: true }, calls: [REFUND, REFUND] })
    expect(new Set(keys()).size).toBe(2)
  })

  test('[R38] a deliberate repeat is an ordinal away', async () => {
    await run('fresh', { place: { runId: 'run', stepId: 'step' } })
    const [again] = read(await run('fresh', { place: { runId: 'run', stepId: 'step', ordinal: 1 } }))
    expect(again?.ok).toBe(true)
    expect(effects.all()).toHaveLength(2)
  })

  test('other arguments, another run, another tenant: other actions', async () => {
    await run('fresh', { calls: [REFUND, { ...REFUND, payment: 'pay_9' }] })
    await run('fresh', { place: { runId: 'another' } })
    await run('fresh', { place: { runId: 'run', tenant: 'other' } })
    expect(new Set(keys()).size).toBe(4)
  })

  test('[R25] the model is shown no key, no secret and no mark of a replay; the host is told them', async () => {
    const told: Observation[] = []
    const place = { runId: 'run', stepId: 'step' }
    const options = { observe: (observation: Observation) => told.push(observation) }
    const shown = [await run('fresh', { place, options }), await run('fresh', { place, options })]
    expect(keys()).toHaveLength(1)
    for (const unseen of [keys()[0] as string, SECRET, '_idempotency', 'replay'])
      expect(shown.flat().join()).not.toContain(unseen)
    expect(told.map(({ _idempotency: { replay, key } }) => ({ replay, key }))).toEqual([
      { replay: false, key: keys()[0] },
      { replay: true, key: keys()[0] },
    ])
  })

  test('[R25] keys, tenants and ids of runs in the arguments change nothing', async () => {
    const place = { runId: 'run', stepId: 'step' }
    const pretended = {
      ...REFUND,
      _idempotency: { key: 'mine' },
      idempotency_key: 'x',
      tenant: 't',
      runId: 'r',
    }
    const [first] = await run('fresh', { place })
    const [second] = await run('fresh', { place, calls: [pretended] })
    expect(second).toBe(first)
    expect(effects.all()).toHaveLength(1)
  })

  test('[R35] arguments that do not fit are an observation that names the field, and the loop goes on', async () => {
    const shown = await run('fresh', { calls: [{ payment: 'pay_8123', amount: 'all' }, REFUND] })
    const [refused, done] = read(shown)
    expect(refused?.error?.code).toBe('INVALID_ARGUMENTS')
    expect(refused?.error?.fields?.map(({ field }) => field)).toEqual(['amount'])
    expect(done?.ok).toBe(true)
    expect(effects.all()).toHaveLength(1)
  })
})

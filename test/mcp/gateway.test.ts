/** The gateway between real clients and a real server, both generations of the SDK, over stdio and HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type AnyClient, type Bench, bench, codeOf, marksOf } from './bench.js'

const KEYED = (key: string): Record<string, unknown> => ({ 'ibid/idempotencyKey': key })
/** The second generation speaks the older revisions as the first does: once is enough. */
const WAYS = [
  { way: 'stdio', generation: '1' },
  { way: 'stdio', generation: '2' },
  { way: 'stdio', generation: 'modern' },
  { way: 'http', generation: '1' },
  { way: 'http', generation: 'modern' },
] as const

describe.each(WAYS)('the gateway over $way, SDK $generation', ({ way, generation }) => {
  let at: Bench
  let client: AnyClient
  beforeAll(async () => {
    at = bench()
    client = await at.connect(generation, way)
  })
  afterAll(async () => await at.close())

  const pay = async (to: string, meta?: Record<string, unknown>, more: object = {}): Promise<Answer> =>
    (await client.callTool({
      name: 'pay',
      arguments: { to, amount: 10, ...more },
      ...(meta && { _meta: meta }),
    })) as Answer

  test('[R20] the same call twice, with new request ids: one effect, the same answer, marked', async () => {
    const first = await pay('ada', KEYED('k1'))
    const again = await pay('ada', KEYED('k1'))
    expect(at.effects.count('pay ada')).toBe(1)
    expect(first).toMatchObject({
      structuredContent: { to: 'ada', number: 1 },
      _meta: { 'bank/trace': 'abc' },
    })
    expect(again.content).toEqual(first.content)
    expect(again.structuredContent).toEqual(first.structuredContent)
    expect([marksOf(first).replay, marksOf(again).replay]).toEqual([false, true])
    expect(marksOf(again).first_completed_at).toEqual(marksOf(first).first_completed_at)
  })

  test('[R20] the key is handed down, and its other name is taken too', async () => {
    await pay('bob', { idempotencyKey: 'k2' })
    await pay('bob', { idempotencyKey: 'k2' })
    const lines = at.effects.all().filter(({ key }) => key === 'pay bob')
    expect(lines).toMatchObject([{ data: { meta: { 'ibid/idempotencyKey': 'k2' } } }])
  })

  test('[R4] one key for two different calls is refused', async () => {
    await pay('eve', KEYED('k3'))
    expect(codeOf(await pay('mallory', KEYED('k3')))).toBe('KEY_REUSED')
    expect(at.effects.count('pay mallory')).toBe(0)
  })

  test('[R21] without a key the second call asks, and shows the first result', async () => {
    const first = await pay('cyd')
    const again = await pay('cyd')
    expect(marksOf(first).replay).toBe(false)
    expect(codeOf(again)).toBe('NEEDS_HUMAN')
    expect(again.content[1]).toEqual(first.content[0])
    expect(at.effects.count('pay cyd')).toBe(1)
    expect(codeOf(await pay('cyd', { 'ibid/ordinal': 1 }))).toBe('none')
    expect(at.effects.count('pay cyd')).toBe(2)
  })

  test('[R6] simultaneous calls under one key: one effect, one answer', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, async () => await pay('dan', KEYED('k4'))))
    expect(at.effects.count('pay dan')).toBe(1)
    expect(new Set(answers.map(({ content }) => JSON.stringify(content))).size).toBe(1)
    expect(answers.filter((answer) => !marksOf(answer).replay)).toHaveLength(1)
  })

  test('reads pass, each time, and so do writes that are idempotent by what they say', async () => {
    const read = async (): Promise<unknown> =>
      await client.callTool({ name: 'balance', arguments: { of: 'ada' } })
    expect(await read()).toMatchObject({ content: [{ text: '1' }] })
    expect(await read()).toMatchObject({ content: [{ text: '2' }] })
    await client.callTool({ name: 'set_limit', arguments: { limit: 7 } })
    await client.callTool({ name: 'set_limit', arguments: { limit: 7 } })
    expect(at.effects.count('limit 7')).toBe(2)
  })

  test('tools and resources are listed and read as the server has them', async () => {
    const bare = await at.connectBare(generation, at.bank(generation, 'stdio'))
    const names = (await client.listTools()).tools
    expect(names).toEqual((await bare.listTools()).tools)
    expect(names.length).toBeGreaterThanOrEqual(3)
    expect(await client.listResources()).toEqual(await bare.listResources())
    expect(await client.readResource({ uri: 'bank://rates' })).toMatchObject({ contents: [{ text: '1.5%' }] })
  })

  test('progress of a write reaches the client that waits for it', async () => {
    const seen: unknown[] = []
    const order = { name: 'pay', arguments: { to: 'fay', amount: 1, how: 'progress' }, _meta: KEYED('k5') }
    // The server answers when its progress was heard: the SDK loses what it reads together with the answer.
    const onprogress = (progress: unknown): void => {
      seen.push(progress)
      at.go()
    }
    await (generation === '1'
      ? client.callTool(order, undefined, { onprogress })
      : client.callTool(order, { onprogress }))
    expect(seen).toMatchObject([{ progress: 1, total: 2 }])
  })

  test('[R25] keys, tenants, run ids and marks in the arguments change nothing', async () => {
    const first = await pay('gus')
    for (const slipped of [
      { idempotencyKey: 'new' },
      { idempotency_key: 'new' },
      { _idempotency: { replay: false } },
      { _meta: KEYED('new') },
      { tenant: 'globex', runId: 'r2', ordinal: 1 },
    ]) {
      const again = await pay('gus', undefined, slipped)
      expect(codeOf(again)).toBe('NEEDS_HUMAN')
      expect(marksOf(again).key).toBe(marksOf(first).key)
    }
    expect(at.effects.count('pay gus')).toBe(1)
  })

  test('[R5] a refusal is given again; a call that the server does not take can be made again', async () => {
    const refused = await pay('hal', KEYED('k6'), { how: 'refuse' })
    const again = await pay('hal', KEYED('k6'), { how: 'refuse' })
    expect(again.content).toEqual(refused.content)
    expect([again.isError, marksOf(again).replay]).toEqual([true, true])
  })

  test('a key that cannot be one is refused before anything is sent', async () => {
    for (const key of [7, '', 'x'.repeat(300), 'a\nb']) {
      const refused = await pay('ian', { 'ibid/idempotencyKey': key }).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: -32_602 })
    }
    expect(at.effects.count('pay ian')).toBe(0)
  })
})

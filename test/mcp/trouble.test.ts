/** The gateway when something dies, hangs or is called off in the middle of a write. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tally } from '../../src/testing/tally.js'
import { type Answer, type AnyClient, type Bench, bench, codeOf, marksOf, type Way } from './bench.js'

const CLIENT = fileURLToPath(new URL('../fixtures/mcp-client.mjs', import.meta.url))
const WAYS: readonly Way[] = ['stdio', 'http']
const ADA = { to: 'ada', amount: 10 }
/** Without a name, whoever comes over HTTP is somebody else than who sits at the machine. */
const SAME = ['--principal', 'ada']
const hanging = { name: 'pay', arguments: { ...ADA, how: 'hang' } }

let at: Bench
beforeEach(() => {
  at = bench()
})
afterEach(async () => await at.close())

async function pay(client: AnyClient, more: object, key?: string): Promise<Answer> {
  const meta = key === undefined ? {} : { _meta: { 'ibid/idempotencyKey': key } }
  return (await client.callTool({ name: 'pay', arguments: { ...ADA, ...more }, ...meta })) as Answer
}

async function held(): Promise<number> {
  return (await at.ibid.list({ state: 'unknown' })).receipts.length
}

async function settled(state: 'succeeded' | 'unknown'): Promise<void> {
  while ((await at.ibid.list({ state })).receipts.length === 0) await sleep(10)
}

describe.each(WAYS)('over %s', (way) => {
  test('[R61] a client that is killed in the middle of a call: one effect, and the next asks', async () => {
    const target =
      way === 'http'
        ? { url: (await at.httpUrl('1', [])).href }
        : { command: at.gateway([], at.bank('1', 'stdio')) }
    const doomed = at.start([process.execPath, CLIENT, JSON.stringify({ ...target, call: hanging })])
    await at.waitFor('pay ada')
    doomed.kill('SIGKILL')
    tally({ kills: 1 })
    await once(doomed, 'exit')
    at.go()
    await settled('succeeded')
    const next = await pay(await at.connect('1', way), { how: 'hang' })
    expect(codeOf(next)).toBe('NEEDS_HUMAN')
    expect(next.content[1]?.text).toBe('paid ada (1)')
    expect(at.effects.count('pay ada')).toBe(1)
    expect(at.effects.count('aborted ada')).toBe(0)
  })

  test('[R34] a server that is killed in the middle of a call: outcome unknown, held, not repeated', async () => {
    const client = await at.connect('1', way, SAME)
    const answer = await pay(client, { how: 'die' }, 'k1')
    tally({ kills: 1 })
    expect(codeOf(answer)).toBe('OUTCOME_UNKNOWN')
    expect(await held()).toBe(1)
    const next = await at.connect('1', way === 'http' ? 'stdio' : way, SAME)
    expect(codeOf(await pay(next, { how: 'die' }, 'k1'))).toBe('OUTCOME_UNKNOWN')
    expect(at.effects.count('pay ada')).toBe(1)
  })

  test('[R34] a server that is killed, and takes the key: the call may be sent again', async () => {
    const options = at.contracts({ downstream: { acceptsKey: true, window: '30d' } })
    const first = await pay(await at.connect('1', way, options), { how: 'die' }, 'k1')
    expect(codeOf(first)).toBe('UPSTREAM_ERROR')
    expect(first).toMatchObject({ _meta: { 'ibid/error': { retriable: true } } })
    expect(first.content[0]?.text).toContain('"retriable":false')
    expect(await held()).toBe(0)
  })

  test.each(['1', 'modern'] as const)(
    '[R34] a call that is called off: the server does not hear of it, and the next gets its result (SDK %s)',
    async (generation) => {
      const client = await at.connect(generation, way)
      const controller = new AbortController()
      const call = { ...hanging, _meta: { 'ibid/idempotencyKey': 'k1' } }
      const options = { signal: controller.signal }
      const called =
        generation === '1' ? client.callTool(call, undefined, options) : client.callTool(call, options)
      await at.waitFor('pay ada')
      controller.abort(new Error('changed my mind'))
      await expect(called).rejects.toBeInstanceOf(Error)
      // Whatever the cancellation sets off comes before the answer to a question that is asked after it.
      await client.callTool({ name: 'balance', arguments: { of: 'ada' } })
      expect(at.effects.count('aborted ada')).toBe(0)
      at.go()
      const again = await pay(client, { how: 'hang' }, 'k1')
      expect([again.content[0]?.text, marksOf(again).replay]).toEqual(['paid ada (1)', true])
      expect(at.effects.count('aborted ada')).toBe(0)
    },
  )

  test('a read that is called off is called off at the server too', async () => {
    const client = await at.connect('1', way)
    const controller = new AbortController()
    const call = { name: 'balance', arguments: { of: 'slow' } }
    const called = client.callTool(call, undefined, { signal: controller.signal })
    await at.waitFor('balance slow')
    controller.abort(new Error('changed my mind'))
    await expect(called).rejects.toBeInstanceOf(Error)
    await at.waitFor('aborted balance slow')
  })

  test('[R34] a call that takes too long: outcome unknown; the answer that comes late settles it', async () => {
    const client = await at.connect('1', way, at.contracts({ timeout: 300, lease: 400 }))
    const late = await pay(client, { how: 'hang' }, 'k1')
    expect(codeOf(late)).toBe('OUTCOME_UNKNOWN')
    expect(await held()).toBe(1)
    at.go()
    await settled('succeeded')
    const again = await pay(client, { how: 'hang' }, 'k1')
    expect([again.content[0]?.text, marksOf(again).replay]).toEqual(['paid ada (1)', true])
    expect(at.effects.count('pay ada')).toBe(1)
    const [receipt] = (await at.ibid.list({ state: 'succeeded' })).receipts
    const events = receipt ? await at.ibid.history(receipt) : []
    expect(events).toContainEqual(expect.objectContaining({ event: 'resolved', by: 'ibid mcp' }))
  })

  test('a call that waits for more from the client is not kept, and goes on under the same key', async () => {
    const client = await at.connect('modern', way)
    const confirm = async (): Promise<Answer> =>
      (await client.callTool({
        name: 'confirm',
        arguments: { to: 'ada' },
        _meta: { 'ibid/idempotencyKey': 'k1' },
      })) as Answer
    expect(await confirm()).toMatchObject({ content: [{ text: 'confirmed ada' }] })
    expect(marksOf(await confirm()).replay).toBe(true)
    expect([at.effects.count('asked ada'), at.effects.count('confirmed ada')]).toEqual([1, 1])
  })
})

test('[R60] one key over four gateways, each a process with a server of its own: one effect, one answer', async () => {
  const clients = await Promise.all(Array.from({ length: 4 }, async () => await at.connect('1', 'stdio')))
  const answers = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 10 }, async () => await pay(client, {}, 'k1'))),
  )
  expect(at.effects.count('pay ada')).toBe(1)
  expect(new Set(answers.map(({ content }) => JSON.stringify(content)))).toEqual(
    new Set([JSON.stringify([{ type: 'text', text: 'paid ada (1)' }])]),
  )
})

test('a gateway that is told to end sees through what it has sent', async () => {
  const gateway = at.start(at.gateway(at.contracts({}), at.bank('1', 'stdio')))
  gateway.stdin?.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: hanging })}\n`,
  )
  await at.waitFor('pay ada')
  gateway.kill('SIGTERM')
  at.go()
  expect(await once(gateway, 'exit')).toEqual([0, null])
  expect((await at.ibid.list({ state: 'succeeded' })).receipts).toHaveLength(1)
  expect(at.effects.count('aborted ada')).toBe(0)
})

test('[R12] with a store that cannot be reached nothing is sent', async () => {
  const client = await at.connect('1', 'stdio', ['--store', 'postgres://nobody@127.0.0.1:1/none'])
  expect(codeOf(await pay(client, {}, 'k1'))).toBe('STORE_UNAVAILABLE')
  expect(at.effects.count('pay ada')).toBe(0)
})

test('a contract says more than an annotation: a tool that calls itself a read is guarded', async () => {
  const file = join(at.folder, 'contracts.json')
  writeFileSync(file, JSON.stringify([{ name: 'balance', effect: 'write-non-idempotent' }]))
  const client = await at.connect('1', 'stdio', ['--contracts', file])
  const call = async (): Promise<unknown> =>
    await client.callTool({ name: 'balance', arguments: { of: 'ada' } })
  expect([codeOf(await call()), codeOf(await call())]).toEqual(['none', 'NEEDS_HUMAN'])
  const doubting = await at.connect('1', 'stdio', ['--no-annotations'])
  const again = await doubting.callTool({ name: 'set_limit', arguments: { limit: 1 } })
  expect(marksOf(again).replay).toBe(false)
})

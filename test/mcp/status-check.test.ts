/**
 * What a failed call of a tool means, and the status check that a contract names: asked with the key that was
 * handed down, when a call ends without a word, when it was held, and when the gateway itself died.
 */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tally } from '../../src/testing/tally.js'
import { type Answer, type AnyClient, type Bench, bench, codeOf, marksOf, type Way } from './bench.js'

const WAYS: readonly Way[] = ['stdio', 'http']
const CHECK = {
  tool: 'find_payment',
  arguments: { reference: '$key', to: '$args/to' },
  found: { at: '/status', is: ['paid'] },
  absent: { at: '/status', is: 'none' },
  result: '/payment',
}
/** A failed result says nothing, so the check is asked at once; it has its time to answer, on a busy machine too. */
const ASKED = { timeout: '20s', lease: '30s', downstream: { settles: 300 }, onError: 'unknown', check: CHECK }
const PAID = { to: 'ada', number: 1 }

let at: Bench
beforeEach(() => {
  at = bench()
})
afterEach(async () => await at.close())

const order = (how: string, key = 'k1') => ({
  name: 'pay',
  arguments: { to: 'ada', amount: 10, how },
  _meta: { 'ibid/idempotencyKey': key },
})

async function pay(client: AnyClient, how: string): Promise<Answer> {
  return (await client.callTool(order(how))) as Answer
}

async function states(): Promise<string[]> {
  return (await at.ibid.list()).receipts.map(({ state }) => state)
}

const asked = (): unknown[] => at.effects.all().filter(({ key }) => key === 'find ada')

describe.each(WAYS)('over %s, a result that says it failed', (way) => {
  test('[R9] with onError unknown: nobody knows, it is held, and not sent again', async () => {
    const client = await at.connect('1', way, at.contracts({ onError: 'unknown' }))
    for (let n = 0; n < 2; n++) expect(codeOf(await pay(client, 'fail'))).toBe('OUTCOME_UNKNOWN')
    expect([await states(), at.effects.count('pay ada')]).toEqual([['unknown'], 1])
  })

  test('[R9] with onError not-executed: it passes as it came, and the same call may run again', async () => {
    const client = await at.connect('1', way, at.contracts({ onError: 'not-executed' }))
    const busy = await pay(client, 'busy')
    expect([busy.isError, busy.content]).toEqual([true, [{ type: 'text', text: 'the bank is busy' }]])
    expect(await states()).toEqual(['released'])
    const done = await pay(client, 'busy')
    expect([done.structuredContent, marksOf(done).replay]).toEqual([PAID, false])
    expect([await states(), at.effects.count('pay ada')]).toEqual([['succeeded'], 1])
  })

  test('[R34] with onError unknown and a check: the check says that it happened', async () => {
    const client = await at.connect('1', way, at.contracts(ASKED))
    const [first, again] = [await pay(client, 'fail'), await pay(client, 'fail')]
    expect([first.structuredContent, again.structuredContent]).toEqual([PAID, PAID])
    expect([marksOf(first).replay, marksOf(again).replay]).toEqual([false, true])
    expect([await states(), at.effects.count('pay ada')]).toEqual([['succeeded'], 1])
  })
})

test.each([
  ['stdio', '1'],
  ['http', 'modern'],
] as const)(
  '[R34] over %s, a call that times out, and a check that finds it (SDK %s)',
  async (way, generation) => {
    const client = await at.connect(generation, way, at.contracts({ ...ASKED, timeout: '3s' }))
    const first = await pay(client, 'hang')
    const text = JSON.stringify(PAID)
    expect([first.structuredContent, first.content]).toEqual([PAID, [{ type: 'text', text }]])
    expect(asked()).toContainEqual(expect.objectContaining({ data: { reference: 'k1' } }))
    const again = await pay(client, 'hang')
    expect([again.content, marksOf(again).replay]).toEqual([first.content, true])
    expect([await states(), at.effects.count('pay ada')]).toEqual([['succeeded'], 1])
  },
)

describe.each(WAYS)('over %s, a call whose end says nothing, and a check', (way) => {
  test('[R34] that finds nothing, when the server has had its time: the same call may run again', async () => {
    const client = await at.connect('1', way, at.contracts(ASKED))
    expect(codeOf(await pay(client, 'busy'))).toBe('NOT_EXECUTED')
    expect(await states()).toEqual(['released'])
    expect(asked().length).toBeGreaterThanOrEqual(2)
    expect((await pay(client, 'busy')).structuredContent).toEqual(PAID)
    expect([await states(), at.effects.count('pay ada')]).toEqual([['succeeded'], 1])
  })

  test('[R34] that cannot tell: held; the next call asks again, and gets what was done', async () => {
    const client = await at.connect('1', way, at.contracts(ASKED))
    writeFileSync(join(at.folder, 'blind'), '')
    for (let n = 0; n < 2; n++) expect(codeOf(await pay(client, 'fail'))).toBe('OUTCOME_UNKNOWN')
    expect(await states()).toEqual(['unknown'])
    rmSync(join(at.folder, 'blind'))
    expect((await pay(client, 'fail')).structuredContent).toEqual(PAID)
    expect([await states(), at.effects.count('pay ada')]).toEqual([['succeeded'], 1])
  })

  test('[R34] [R61] whose server was killed in the middle: the next server is asked', async () => {
    const options = [...at.contracts(ASKED), '--principal', 'ada']
    expect(codeOf(await pay(await at.connect('1', way, options), 'die'))).toBe('OUTCOME_UNKNOWN')
    tally({ kills: 1 })
    expect(await states()).toEqual(['unknown'])
    expect((await pay(await at.connect('1', 'stdio', options), 'die')).structuredContent).toEqual(PAID)
    expect([await states(), at.effects.count('pay ada')]).toEqual([['succeeded'], 1])
  })

  test('[R34] where a person has to decide: found is given, not found is theirs', async () => {
    const human = { ...ASKED, requiresHumanOnRetry: true }
    const client = await at.connect('1', way, at.contracts(human))
    expect((await pay(client, 'fail')).structuredContent).toEqual(PAID)
    const other = (await client.callTool({
      ...order('busy', 'k2'),
      arguments: { to: 'bo', amount: 1, how: 'busy' },
    })) as Answer
    expect(codeOf(other)).toBe('NEEDS_HUMAN')
    expect((await states()).toSorted()).toEqual(['succeeded', 'unknown'])
    expect(at.effects.count('pay bo')).toBe(0)
  })
})

test('[R7] [R61] a gateway that is killed between effect and answer: the next one asks before it acts', async () => {
  const options = at.contracts({ ...ASKED, timeout: '5s', lease: '5s', wait: '30s' })
  const doomed = at.start(at.gateway(options, at.bank('1', 'stdio')))
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: order('hang') }
  doomed.stdin?.write(`${JSON.stringify(call)}\n`)
  await at.waitFor('pay ada')
  doomed.kill('SIGKILL')
  tally({ kills: 1 })
  await once(doomed, 'exit')
  const found = await pay(await at.connect('1', 'stdio', options), 'hang')
  expect([found.structuredContent, at.effects.count('pay ada')]).toEqual([PAID, 1])
  expect(asked()).toContainEqual(expect.objectContaining({ data: { reference: 'k1' } }))
})

test('[R34] an answer that comes late, while the check is being asked, counts for more than the check', async () => {
  const slow = { ...ASKED, timeout: '2s', lease: '1m', downstream: { settles: '30s' } }
  const client = await at.connect('1', 'stdio', at.contracts(slow))
  writeFileSync(join(at.folder, 'blind'), '')
  const late = pay(client, 'hang')
  await at.waitFor('find ada')
  at.go()
  const answer = await late
  expect([answer.content[0]?.text, answer.structuredContent]).toEqual(['paid ada (1)', PAID])
  expect(await states()).toEqual(['succeeded'])
})

test('[R34] a call without a key of its host is asked about under the key that it was handed down with', async () => {
  const client = await at.connect('1', 'stdio', at.contracts(ASKED))
  const bare = { name: 'pay', arguments: order('fail').arguments }
  expect(((await client.callTool(bare)) as Answer).structuredContent).toEqual(PAID)
  expect(codeOf(await client.callTool(bare))).toBe('NEEDS_HUMAN')
  expect(at.effects.count('pay ada')).toBe(1)
})

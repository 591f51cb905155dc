/** inspect, held, resolve and sweep: what the person on call does, on a real file, by the compiled command. */
import { describe, expect, test } from 'vitest'
import { createIbid, OutcomeUnknown, Rejected } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { draft } from '../../src/testing/store/drafts.js'
import { filled, HOUR_MS, ibid } from './command.js'

const refund = { scope: 'tool:refund', key: 'wf_81:step_3', payload: { amount: 5 } }

const lose = (why: string) => () => Promise.reject(new OutcomeUnknown(why))

async function oneOfEach() {
  return await filled(async ({ ibid: own, store, clock }) => {
    clock[0] = -2 * HOUR_MS
    await own.once({ scope: 'tool:refund', key: 'done' }, () => ({ id: 're_1', secret: 'in the value' }))
    await own.once({ scope: 'tool:refund', key: 'done' }, () => 'never')
    const refused = own.once({ scope: 'tool:refund', key: 'refused' }, () => {
      throw new Rejected('card\u001b[31m expired', { code: 'CARD_EXPIRED' })
    })
    await expect(refused).rejects.toThrow(Rejected)
    const lost = own.once(refund, () => {
      throw new OutcomeUnknown('the connection broke after it was sent')
    })
    await expect(lost).rejects.toThrow(OutcomeUnknown)
    // A worker that died: pending, its lease over, nobody back.
    await store.claim([draft({ scope: 'tool:pay', key: 'left-behind', recovery: 'hold', forMs: 1_000 })])
    clock[0] = 0
  })
}

describe('inspect', () => {
  test('[R14] lists what fits, for people and as JSON', async () => {
    const { url } = await oneOfEach()
    const people = await ibid(['inspect', '--store', url])
    expect(people).toMatchObject({ code: 0, stderr: '' })
    expect(people.stdout).toMatch(/^STATE +TENANT +SCOPE +KEY +TRY +SINCE +ENDS\n/)
    expect(people.stdout).toMatch(
      /^succeeded +acme +tool:refund +done +1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +in \d+/m,
    )
    expect(people.stdout).not.toContain('\u001b')
    const failed = await ibid(['inspect', 'tool:refund', '--store', url, '--state', 'failed', '--json'])
    expect(failed.json<{ receipts: unknown[] }>().receipts).toMatchObject([
      { key: 'refused', state: 'failed' },
    ])
    const paged = await ibid(['inspect', '--store', url, '--limit', '1', '--json'])
    const { cursor, receipts } = paged.json<{ cursor: string; receipts: { key: string }[] }>()
    const next = await ibid(['inspect', '--store', url, '--limit', '1', '--cursor', cursor, '--json'])
    expect(next.json<{ receipts: { key: string }[] }>().receipts[0]?.key).not.toBe(receipts[0]?.key)
  })

  test('tells the whole story of one, with its value, or without', async () => {
    const { url } = await oneOfEach()
    const args = ['inspect', 'tool:refund', 'done', '--tenant', 'acme', '--store', url]
    const people = await ibid(args)
    expect(people.stdout).toMatch(/^succeeded\n/)
    expect(people.stdout).toMatch(/^attempt +1 of at most \d+$/m)
    expect(people.stdout).toContain('"secret":"in the value"')
    expect(people.stdout).toMatch(/claimed[^]*settled[^]*dedup_hit/)
    const machine = (await ibid([...args, '--json'])).json<{
      receipt: object
      history: { event: string }[]
    }>()
    expect(machine.receipt).toMatchObject({ state: 'succeeded', value: { id: 're_1' } })
    expect(machine.receipt).not.toHaveProperty('token')
    expect(machine.history.map(({ event }) => event)).toEqual(['claimed', 'settled', 'dedup_hit'])
    const quiet = await ibid([...args, '--no-values', '--json'])
    expect(quiet.stdout).not.toContain('in the value')
  })

  test('what others wrote cannot steer the terminal', async () => {
    const { url } = await oneOfEach()
    const { stdout } = await ibid(['inspect', 'tool:refund', 'refused', '--tenant', 'acme', '--store', url])
    expect(stdout).toContain(String.raw`CARD_EXPIRED: card\u001b[31m expired`)
    expect(stdout).not.toContain('\u001b')
  })

  test('a receipt that is not there is exit code 4, and says where it looked', async () => {
    const { url } = await oneOfEach()
    const absent = await ibid(['inspect', 'tool:refund', 'nope', '--tenant', 'acme', '--store', url])
    expect(absent).toMatchObject({ code: 4, stdout: '' })
    expect(absent.stderr).toContain('"nope"')
    const other = await ibid([
      'inspect',
      'tool:refund',
      'done',
      '--tenant',
      'other',
      '--store',
      url,
      '--json',
    ])
    expect(other.code).toBe(4)
    expect(JSON.parse(other.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })
})

describe('held', () => {
  test('[R14] lists unknown outcomes and what lapsed unseen, longest first, and why', async () => {
    const { url } = await oneOfEach()
    const { held, total } = (await ibid(['held', '--store', url, '--json'])).json<{
      held: { key: string; why?: string; state: string }[]
      total: number
    }>()
    expect(total).toBe(2)
    expect(held.map(({ key }) => key)).toEqual([refund.key, 'left-behind'])
    const people = await ibid(['held', '--store', url])
    expect(people.code).toBe(0)
    expect(people.stdout).toMatch(/^ *2 h +acme +tool:refund +wf_81:step_3/m)
    expect(people.stdout).toContain('2 held.')
  })

  test('[R14] says why this attempt is held: no conflict, and no attempt before it, is the reason', async () => {
    const { url } = await filled(async ({ ibid: own, store, clock }) => {
      await expect(own.once(refund, lose('the bank hung up'))).rejects.toThrow(OutcomeUnknown)
      await expect(own.once({ ...refund, payload: { amount: 6 } }, () => 1)).rejects.toThrow(
        'another payload',
      )
      const again = { scope: 'tool:pay', key: 'again' }
      await expect(own.once(again, lose('of the first'))).rejects.toThrow(OutcomeUnknown)
      await own.resolve(again, { as: 'released' }, { by: 'ana', why: 'not there' })
      clock[0] = -HOUR_MS
      await own.claim(again, { lease: '1s', recovery: 'hold' })
      clock[0] = 0
      await store.check()
    })
    const { held } = (await ibid(['held', '--store', url, '--json'])).json<{
      held: { key: string; why?: string }[]
    }>()
    const reasons = Object.fromEntries(held.map(({ key, why }) => [key, why]))
    expect(reasons).toEqual({ [refund.key]: 'the bank hung up', again: undefined })
  })

  test('can be asked by its exit code, and by scope', async () => {
    const { url } = await oneOfEach()
    expect(await ibid(['held', '--store', url, '--exit-code'])).toMatchObject({ code: 3 })
    const none = await ibid(['held', '--store', url, '--exit-code', '--scope', 'tool:other'])
    expect(none).toMatchObject({ code: 0, stdout: 'nothing is held\n' })
    expect((await ibid(['held', '--store', url, '--tenant', 'other', '--json'])).json()).toMatchObject({
      total: 0,
    })
  })
})

describe('resolve', () => {
  const where = ['resolve', refund.scope, refund.key, '--tenant', 'acme']
  const who = ['--by', 'ana', '--why', 'seen in the bank']

  test('[R14] who and why are required, and go on record; the retry gets the value', async () => {
    const { url, file } = await oneOfEach()
    const value = ['--as', 'succeeded', '--value', '{"id":"re_9"}']
    const needed = ['--by', '--why', '--as']
    const args = [...where, ...who, ...value, '--store', url]
    const refused = await Promise.all(needed.map((flag) => ibid(args.toSpliced(args.indexOf(flag), 2))))
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2])
    expect(refused.map(({ stderr }) => needed.find((flag) => stderr.includes(flag)))).toEqual(needed)
    const done = await ibid([...where, ...who, ...value, '--store', url])
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).toContain('is succeeded now')
    const own = createIbid({ store: sqliteStore(file), tenant: 'acme' })
    expect(await own.once(refund, () => 'again')).toMatchObject({ value: { id: 're_9' }, replayed: true })
    const events = await own.history(refund)
    await own.close()
    expect(events.find(({ event }) => event === 'resolved')).toMatchObject({
      by: 'ana',
      why: 'seen in the bank',
    })
  })

  test('as failed: the retry gets the refusal; as released: it executes', async () => {
    const { url, file } = await oneOfEach()
    const failed = ['--as', 'failed', '--message', 'the bank said no', '--code', 'DECLINED', '--json']
    const said = await ibid([...where, ...who, ...failed], { env: { IBID_STORE: url } })
    expect(said.json()).toMatchObject({ receipt: { state: 'failed' } })
    const lapsed = ['resolve', 'tool:pay', 'left-behind', '--as', 'released', ...who]
    expect((await ibid(lapsed, { env: { IBID_STORE: url, IBID_TENANT: 'acme' } })).code).toBe(0)
    const own = createIbid({ store: sqliteStore(file), tenant: 'acme' })
    await expect(own.once(refund, () => 'again')).rejects.toMatchObject({ code: 'DECLINED', replayed: true })
    expect(await own.get({ scope: 'tool:pay', key: 'left-behind' })).toMatchObject({ state: 'released' })
    await own.close()
  })

  test('a value may come from a file or from standard input', async () => {
    const { url } = await oneOfEach()
    const args = [...where, ...who, '--as', 'succeeded', '--value', '-', '--store', url, '--json']
    expect((await ibid(args, { input: '{"id": 10.0}' })).json()).toMatchObject({
      receipt: { state: 'succeeded' },
    })
    const { json } = await ibid(['inspect', ...where.slice(1), '--store', url, '--json'])
    expect(json()).toMatchObject({ receipt: { value: { id: 10 } } })
  })

  test('what is not held is exit code 4, and unchanged', async () => {
    const { url } = await oneOfEach()
    const args = [
      'resolve',
      'tool:refund',
      'done',
      '--tenant',
      'acme',
      '--as',
      'released',
      ...who,
      '--store',
      url,
    ]
    const ran = await ibid(args)
    expect(ran.code).toBe(4)
    expect(ran.stderr).toContain('is not held')
  })

  const wrong: readonly [string, readonly string[]][] = [
    ['--value', ['--as', 'released', '--value', '1']],
    ['--value', ['--as', 'succeeded', '--value', '{"a":1,"a":2}']],
    ['--message', ['--as', 'failed']],
    ['--code', ['--as', 'released', '--code', 'X']],
    ['--as', ['--as', 'maybe']],
  ]
  test('what is wrong is named by its flag', async () => {
    const { url } = await oneOfEach()
    const ran = await Promise.all(
      wrong.map(([, flags]) => ibid([...where, ...who, ...flags, '--store', url])),
    )
    expect(ran.map(({ code }) => code)).toEqual(wrong.map(() => 2))
    expect(ran.map(({ stderr }, at) => stderr.includes(wrong[at]?.[0] ?? '?'))).toEqual(wrong.map(() => true))
    const without = await ibid(['resolve', 'a', 'b', '--as', 'released', ...who, '--store', url])
    expect(without).toMatchObject({ code: 2 })
    expect(without.stderr).toContain('--tenant')
  })
})

describe('sweep', () => {
  test('[R52] holds what lapsed, forgets what ended, keeps what is unknown', async () => {
    const { url } = await filled(async ({ ibid: own, store, clock }) => {
      clock[0] = -2 * HOUR_MS
      await own.once({ scope: 's', key: 'ended' }, () => 1, { window: '1m' })
      await own.once({ scope: 's', key: 'kept' }, () => 1, { window: '7d' })
      await expect(own.once(refund, () => Promise.reject(new OutcomeUnknown('?')))).rejects.toThrow('?')
      await store.claim([draft({ key: 'lapsed', recovery: 'hold', forMs: 1_000 })])
      clock[0] = 0
    })
    const swept = await ibid(['sweep', '--store', url, '--json'])
    expect(swept.json()).toMatchObject({ held: 1, released: 0, purged: 1 })
    const left = (await ibid(['inspect', '--store', url, '--json'])).json<{
      receipts: { key: string; state: string }[]
    }>()
    expect(left.receipts.map(({ key }) => key).toSorted()).toEqual(['kept', 'lapsed', refund.key])
    const again = await ibid(['sweep', '--store', url])
    expect(again.stdout).toMatch(/^receipts forgotten +0$/m)
  })

  test('keeps the audit log for as long as it is told', async () => {
    const { url } = await filled(async ({ ibid: own, clock }) => {
      clock[0] = -2 * HOUR_MS
      await own.once({ scope: 's', key: 'k' }, () => 1, { window: '7d' })
      clock[0] = 0
    })
    expect((await ibid(['sweep', '--store', url, '--json'])).json()).toMatchObject({ events: 0 })
    const short = await ibid(['sweep', '--store', url, '--audit-window', '1h', '--json'])
    expect(short.json()).toMatchObject({ events: 2, purged: 0 })
  })
})

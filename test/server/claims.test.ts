/** Claim, renew, settle, release, hold, wait and resolve over HTTP, by clients that hold nothing but a token. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Caller, caller, openHouse, type Served } from './bench.js'

interface Claimed {
  readonly outcome: string
  readonly token: string
  readonly resumed: boolean
  readonly checkFirst: boolean
  readonly value?: unknown
  readonly error?: { readonly code: string; readonly message: string }
  readonly receipt: { readonly state: string; readonly attempt: number; readonly epoch: number }
  readonly code?: string
}

let close = async (): Promise<void> => {}
let served: Served
let call: Caller
let keys = 0
const newKey = (): string => `key-${++keys}`
const newToken = (): string => randomBytes(16).toString('hex')

beforeAll(async () => {
  const house = openHouse((end) => (close = end))
  served = await house.serve()
  call = caller(served.url, await house.newKey('acme'))
})
afterAll(() => close())

const claim = (key: string, more: object = {}) =>
  call<Claimed>('/v1/claims', { scope: 'refund', key, payload: { amount: 1 }, ...more })

describe('one attempt', () => {
  test('[R3] [R5] claim, settle, claim again: the first result', async () => {
    const key = newKey()
    const first = await claim(key)
    expect(first).toMatchObject({
      status: 201,
      body: { outcome: 'claimed', resumed: false, checkFirst: false },
    })
    const value = { refund: 're_1', lines: [1, 2.5, null, 'ünï'] }
    const settled = await call('/v1/claims/settle', { scope: 'refund', key, token: first.body.token, value })
    expect(settled).toMatchObject({ status: 200, body: { receipt: { state: 'succeeded', attempt: 1 } } })
    const again = await claim(key)
    expect(again).toMatchObject({ status: 200, body: { outcome: 'succeeded', value, retained: true } })
    expect(again.body.receipt.epoch).toBe(first.body.receipt.epoch)
  })

  test('[R5] a refusal is given again, with its code and its data', async () => {
    const key = newKey()
    const { body } = await claim(key)
    const error = { code: 'CARD_DECLINED', message: 'no', data: { reason: 'stolen' } }
    await call('/v1/claims/settle', { scope: 'refund', key, token: body.token, as: 'failed', error })
    expect(await claim(key)).toMatchObject({ status: 200, body: { outcome: 'failed', error } })
  })

  test('[R4] another payload is refused in every state', async () => {
    const key = newKey()
    const { body } = await claim(key)
    const other = { payload: { amount: 2 } }
    expect(await claim(key, other)).toMatchObject({ status: 422, body: { code: 'KEY_REUSED' } })
    await call('/v1/claims/settle', { scope: 'refund', key, token: body.token })
    expect(await claim(key, other)).toMatchObject({ status: 422, body: { code: 'KEY_REUSED' } })
  })

  test('[R22] payloads that JSON readers confuse are not the same payload', async () => {
    const key = newKey()
    const raw = (payload: string) =>
      call<Claimed>('/v1/claims', `{"scope":"refund","key":"${key}","payload":${payload}}`)
    expect(await raw('9007199254740993')).toMatchObject({ status: 400, body: { code: 'INVALID_INTENT' } })
    expect(await raw('{"a":1,"a":2}')).toMatchObject({ status: 400, body: { code: 'INVALID_INTENT' } })
    expect(await raw('{"b":1,"a":10.0}')).toMatchObject({ status: 201 })
    expect(await raw('{"a":10,"b":1}')).toMatchObject({ status: 409, body: { code: 'RETRY_IN_FLIGHT' } })
  })

  test('[R6] a duplicate of a running one is told when to come again', async () => {
    const key = newKey()
    await claim(key)
    const second = await claim(key)
    expect(second).toMatchObject({ status: 409, body: { code: 'RETRY_IN_FLIGHT', retriable: true } })
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  })

  test('[R6] a duplicate that waits gets the result as soon as it is there', async () => {
    const key = newKey()
    const { body } = await claim(key)
    const waiter = claim(key, { wait: '30s' })
    const looker = call<{ receipt: { state: string; value: unknown } }>(
      `/v1/receipt?scope=refund&key=${key}&wait=30s`,
    )
    await call('/v1/claims/settle', { scope: 'refund', key, token: body.token, value: 7 })
    expect(await waiter).toMatchObject({ status: 200, body: { outcome: 'succeeded', value: 7 } })
    expect((await looker).body.receipt).toMatchObject({ state: 'succeeded', value: 7 })
  })

  test('[R9] a released key may run again, under a new token and a later epoch', async () => {
    const key = newKey()
    const first = await claim(key)
    await call('/v1/claims/release', {
      scope: 'refund',
      key,
      token: first.body.token,
      why: 'the bank was closed',
    })
    const second = await claim(key)
    expect(second).toMatchObject({ status: 201, body: { receipt: { attempt: 1 } } })
    expect(second.body.token).not.toBe(first.body.token)
    expect(second.body.receipt.epoch).toBeGreaterThan(first.body.receipt.epoch)
  })

  test('[R14] one that is held is listed, and resolved by somebody with a name and a reason', async () => {
    const key = newKey()
    const { body } = await claim(key)
    await call('/v1/claims/hold', { scope: 'refund', key, token: body.token, why: 'the connection broke' })
    expect(await claim(key)).toMatchObject({
      status: 409,
      body: { code: 'OUTCOME_UNKNOWN', retriable: false },
    })
    const held = await call<{ receipts: { key: string }[] }>('/v1/held?scope=refund')
    expect(held.body.receipts.map((one) => one.key)).toContain(key)
    const resolution = {
      scope: 'refund',
      key,
      as: 'succeeded',
      value: { refund: 're_9' },
      by: 'ada',
      why: 'seen in the ledger',
    }
    for (const blank of [{ why: '' }, { by: '' }, { by: ' ' }])
      expect(await call('/v1/resolutions', { ...resolution, ...blank })).toMatchObject({ status: 400 })
    const of = (epoch: unknown) => call('/v1/resolutions', { ...resolution, epoch })
    expect(await of('1')).toMatchObject({ status: 400 })
    expect(await of(1)).toMatchObject({ status: 409, body: { code: 'NOT_HELD' } })
    expect(await call('/v1/resolutions', resolution)).toMatchObject({
      status: 200,
      body: { receipt: { state: 'succeeded' } },
    })
    expect(await call('/v1/resolutions', resolution)).toMatchObject({
      status: 409,
      body: { code: 'NOT_HELD' },
    })
    expect(await claim(key)).toMatchObject({ status: 200, body: { value: { refund: 're_9' } } })
    const { body: story } = await call<{ events: { event: string; by?: string; why?: string }[] }>(
      `/v1/receipt/history?scope=refund&key=${key}`,
    )
    expect(story.events).toContainEqual(
      expect.objectContaining({
        event: 'resolved',
        by: expect.stringMatching(/^ada \(key [0-9a-f]{16}\)$/) as string,
        why: 'seen in the ledger',
      }),
    )
  })
})

describe('leases and tokens', () => {
  test('[R7] a lapsed claim is held by default', async () => {
    const key = newKey()
    await claim(key, { lease: 20 })
    await expect.poll(async () => (await claim(key)).body.code).toBe('OUTCOME_UNKNOWN')
  })

  test('[R7] [R8] a lapsed claim is taken over by policy; the first worker can change nothing afterwards', async () => {
    const key = newKey()
    const policy = { recovery: 'check', lease: 20 }
    const first = await claim(key, policy)
    let second = first
    await expect.poll(async () => (second = await claim(key, { ...policy, lease: '1m' })).status).toBe(201)
    expect(second.body).toMatchObject({ checkFirst: true, receipt: { attempt: 2 } })
    const zombie = { scope: 'refund', key, token: first.body.token }
    for (const verb of ['settle', 'renew', 'release', 'hold']) {
      expect(await call(`/v1/claims/${verb}`, zombie), verb).toMatchObject({
        status: 409,
        body: { code: 'LEASE_LOST' },
      })
    }
    const owner = { scope: 'refund', key, token: second.body.token }
    expect(await call('/v1/claims/renew', owner)).toMatchObject({
      status: 200,
      body: { receipt: { state: 'pending' } },
    })
    expect(await call('/v1/claims/settle', { ...owner, value: 2 })).toMatchObject({ status: 200 })
    expect(await claim(key)).toMatchObject({ body: { value: 2 } })
  })

  test('[R8] a token that is nobody’s changes nothing', async () => {
    const key = newKey()
    await claim(key)
    const stranger = { scope: 'refund', key, token: newToken() }
    expect(await call('/v1/claims/settle', stranger)).toMatchObject({
      status: 409,
      body: { code: 'LEASE_LOST' },
    })
    expect(await call('/v1/claims/settle', { ...stranger, key: 'never-claimed' })).toMatchObject({
      status: 404,
      body: { code: 'NO_RECEIPT' },
    })
  })

  test('a claim whose answer was lost is made again under the same token, and a settlement too', async () => {
    const key = newKey()
    const token = newToken()
    expect(await claim(key, { token })).toMatchObject({ status: 201, body: { token, resumed: false } })
    expect(await claim(key, { token })).toMatchObject({
      status: 201,
      body: { token, resumed: true, receipt: { attempt: 1 } },
    })
    expect(await claim(key, { token, payload: { amount: 2 } })).toMatchObject({ status: 422 })
    const ended = { scope: 'refund', key, token, value: { a: 1 } }
    expect(await call('/v1/claims/settle', ended)).toMatchObject({ status: 200 })
    expect(await call('/v1/claims/settle', ended)).toMatchObject({
      status: 200,
      body: { receipt: { state: 'succeeded' } },
    })
    expect(await call('/v1/claims/settle', { ...ended, value: { a: 2 } })).toMatchObject({ status: 409 })
    expect(await claim(key, { token })).toMatchObject({
      status: 200,
      body: { outcome: 'succeeded', value: { a: 1 } },
    })
  })

  test('a token is one attempt: it starts no second one', async () => {
    const key = newKey()
    const token = newToken()
    await claim(key, { token })
    await call('/v1/claims/release', { scope: 'refund', key, token })
    expect(await claim(key, { token })).toMatchObject({ status: 400, body: { code: 'INVALID_INTENT' } })
    expect(await claim(key, { token: newToken() })).toMatchObject({ status: 201 })
    const lapsing = newKey()
    await claim(lapsing, { token, lease: 20, recovery: 'retry' })
    await expect.poll(async () => (await claim(lapsing, { token, recovery: 'retry' })).status).toBe(400)
  })
})

describe('batches', () => {
  test('each item has its own answer, in order, and a bad one holds up nobody', async () => {
    const [a, b] = [newKey(), newKey()]
    await claim(b)
    const claims = [
      { scope: 'refund', key: a, payload: 1 },
      { scope: 'refund', key: b },
      { scope: 'refund' },
      7,
      { scope: 'refund', key: a, payload: 1 },
    ]
    const { status, body } = await call<{
      results: { status: number; token: string; problem?: { code: string; detail: string } }[]
    }>('/v1/claims', { claims })
    expect(status).toBe(200)
    expect(body.results.map((one) => one.status)).toEqual([201, 422, 400, 400, 409])
    expect(body.results[2]?.problem?.detail).toContain('key is missing')
    expect(body.results[3]?.problem?.detail).toContain('claims[3]')
    const done = await call<{ results: { status: number }[] }>('/v1/claims/settle', {
      claims: [
        { scope: 'refund', key: a, token: body.results[0]?.token, value: 'done' },
        { scope: 'refund', key: a, token: newToken() },
      ],
    })
    expect(done.body.results.map((one) => one.status)).toEqual([200, 409])
    const found = await call<{ receipts: ({ state: string } | null)[] }>('/v1/receipts/lookup', {
      receipts: [
        { scope: 'refund', key: a },
        { scope: 'refund', key: 'none' },
      ],
    })
    expect(found.body.receipts).toMatchObject([{ state: 'succeeded', value: 'done' }, null])
  })

  test('[R60] a thousand claims of one key in batches over twenty connections: one is won', async () => {
    const key = newKey()
    const claims = Array.from({ length: 50 }, () => ({ scope: 'refund', key, payload: 1 }))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call<{ results: { status: number }[] }>('/v1/claims', { claims })),
    )
    const statuses = answers.flatMap(({ body }) => body.results.map((one) => one.status))
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(999)
  })
})

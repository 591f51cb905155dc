/** The guard's rules that need no framework: verdicts, verdicts by throwing, checks, headers, settings, sizes. */
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { idempotent as onHono } from '../../src/adapters/hono.js'
import { attemptOf, DEFAULT_VERDICTS, type HttpOptions, idempotent } from '../../src/guards/http/index.js'
import { OutcomeUnknown, Rejected } from '../../src/index.js'
import { codeOf, guarded, openIbid } from './fetch.js'

const stateOf = async ({ ibid }: { ibid: ReturnType<typeof openIbid> }): Promise<unknown> =>
  (await ibid.get({ scope: 'http:POST /refunds', key: 'k1' }))?.state

const REFUSAL = { code: 'ACCOUNT_CLOSED', data: { since: 2024 } }

const check = (): { found: true; value: Response } => ({
  found: true,
  value: Response.json({ refund: 're_1' }, { status: 201, headers: { 'set-cookie': 'a=b' } }),
})

describe('verdicts', () => {
  test.each([
    [200, 'succeeded'],
    [204, 'succeeded'],
    [303, 'succeeded'],
    [400, 'succeeded'],
    [403, 'succeeded'],
    [401, 'released'],
    [408, 'released'],
    [409, 'released'],
    [423, 'released'],
    [425, 'released'],
    [429, 'released'],
    [500, 'unknown'],
    [503, 'unknown'],
  ])('by default a response of %i leaves the receipt %s [R9]', async (status, state) => {
    const guard = guarded({}, () => new Response(null, { status }))
    expect((await guard.post('k1')).status).toBe(status)
    expect(await stateOf(guard)).toBe(state)
  })

  test('a declared class counts before a status of the defaults, and a declared status before its class', async () => {
    const verdicts = { '5xx': 'final', '4xx': 'release', 404: 'final' } as const
    for (const [status, state] of [
      [500, 'succeeded'],
      [429, 'released'],
      [422, 'released'],
      [404, 'succeeded'],
    ] as const) {
      const guard = guarded({ verdicts }, () => new Response(null, { status }))
      await guard.post('k1')
      expect([status, await stateOf(guard)]).toEqual([status, state])
    }
    expect(DEFAULT_VERDICTS[429]).toBe('release')
  })

  test('what a handler throws of its own is thrown again, and the key is held', async () => {
    const failure = new RangeError('no such account')
    const guard = guarded({}, () => Promise.reject(failure))
    await expect(guard.post('k1')).rejects.toBe(failure)
    expect(await stateOf(guard)).toBe('unknown')
    expect(await codeOf(await guard.post('k1'))).toBe('OUTCOME_UNKNOWN')
  })

  test('Rejected is stored, and given again as problem+json; OutcomeUnknown holds [R5] [R9]', async () => {
    const refusing = guarded({}, () => {
      throw new Rejected('the account is closed', { code: 'ACCOUNT_CLOSED', data: { since: 2024 } })
    })
    const bodies = [await refusing.post('k1'), await refusing.post('k1')]
    expect(bodies.map(({ status }) => status)).toEqual([422, 422])
    expect(bodies[1]?.headers.get('idempotency-replayed')).toBe('true')
    const problems = await Promise.all(bodies.map((body) => body.json()))
    expect(problems).toMatchObject([REFUSAL, REFUSAL])
    expect(refusing.runs()).toBe(1)
    const unsure = guarded({ policy: { recovery: 'retry' } }, () => {
      throw new OutcomeUnknown('the bank did not say')
    })
    expect([(await unsure.post('k1')).status, await stateOf(unsure)]).toEqual([409, 'unknown'])
  })
})

test('a status check answers for a response that left it open, and its answer is replayed [R7]', async () => {
  const { post, runs } = guarded(
    { policy: { recovery: { check } } },
    () => new Response(null, { status: 502 }),
  )
  const first = await post('k1')
  expect([first.status, await first.json()]).toEqual([201, { refund: 're_1' }])
  const again = await post('k1')
  expect([again.headers.get('set-cookie'), await again.json(), runs()]).toEqual([null, { refund: 're_1' }, 1])
})

test('the attempt is at hand, so that its key can be handed on [R20]', async () => {
  const seen: unknown[] = []
  const { post } = guarded({}, (request, attempt) => {
    seen.push(attempt?.key, attemptOf(request)?.key)
    return new Response()
  })
  await post('"wf_81:step_3"')
  expect(seen).toEqual(['wf_81:step_3', 'wf_81:step_3'])
})

test('a value that a person gave when resolving is the answer to the duplicate [R14]', async () => {
  const { post, ibid } = guarded({}, () => new Response(null, { status: 500 }))
  await post('k1')
  const where = { scope: 'http:POST /refunds', key: 'k1' }
  await ibid.resolve(
    where,
    { as: 'succeeded', value: { refund: 're_7' } },
    { by: 'ana', why: 'seen at the bank' },
  )
  const again = await post('k1')
  expect([again.status, await again.json()]).toEqual([200, { refund: 're_7' }])
})

test.each<[string, HttpOptions]>([
  ['set-cookie is never kept', { headers: ['Set-Cookie'] }],
  ['authorization is never kept', { headers: ['authorization'] }],
  ['an unknown option', { require: true } as never],
  ['an unknown verdict', { verdicts: { '5xx': 'maybe' as never } }],
  ['a status that is none', { verdicts: { 99: 'final' } }],
  ['an identity without JSON', { identity: { ignore: ['reason'] } }],
  ['a comparison that is none', { compare: 'text' as never }],
  ['a status path that is no path', { statusPath: 'status' }],
  ['a size that is none', { maxRequestBytes: -1 }],
])('wrong settings are refused when the guard is made: %s', (_what, options) => {
  expect(() => idempotent(openIbid(), options)).toThrowError(
    expect.objectContaining({ code: 'INVALID_INTENT' }),
  )
})

test('scopes stay in the layer of HTTP, and long paths fit', async () => {
  const { post, ibid } = guarded({ scope: 'tool:issue_refund' })
  await post('k1')
  expect(await ibid.get({ scope: 'http:tool:issue_refund', key: 'k1' })).toMatchObject({ state: 'succeeded' })
  const long = guarded()
  const path = `/${'x'.repeat(600)}`
  expect((await long.post('k1', {}, path)).status).toBe(201)
  expect((await long.post('k1', {}, path)).headers.get('idempotency-replayed')).toBe('true')
})

test('the status resource shows nothing of another layer, and nothing of what is not there', async () => {
  const ibid = openIbid()
  const guard = idempotent(ibid, { statusPath: '/status' })
  await ibid.once({ scope: 'tool:pay', key: 'k1' }, () => 1)
  const ask = (query: string): Promise<Response> =>
    guard(new Request(`http://bank/status${query}`), () => new Response())
  expect((await ask('?scope=tool%3Apay&key=k1')).status).toBe(400)
  expect((await ask('?scope=http%3APOST%20%2Fx&key=k1')).status).toBe(404)
  expect((await ask('')).status).toBe(400)
})

test('a body that was read before the guard came is refused, and nothing runs', async () => {
  const ibid = openIbid()
  let runs = 0
  const request = new Request('http://bank/refunds', {
    method: 'POST',
    body: 'x',
    headers: { 'idempotency-key': 'k' },
  })
  await request.text()
  const refused = await idempotent(ibid)(request, () => new Response(String(++runs)))
  expect([refused.status, await codeOf(refused), runs]).toEqual([500, 'UNREADABLE_BODY', 0])
})

test('[R40] what says neither that a key is needed nor that it is not is refused, and makes no key', async () => {
  expect(() => guarded({ required: 'no' as never })).toThrow(/required is not true, false or derived/)
  const guard = guarded({ required: (() => Promise.resolve(false)) as never })
  const refused = await guard.post(undefined)
  expect([refused.status, await codeOf(refused), guard.runs()]).toEqual([500, 'INVALID_OPTIONS', 0])
  expect((await guard.post('k1')).status).toBe(201)
})

test.each([['"k1";v=1, k2'], ['"k1"; , k2'], ['"k1", "k2"'], ['k1, k2']])(
  '[R40] two headers are not one key: %s',
  async (both) => {
    const guard = guarded()
    const refused = await guard.post(both)
    expect([refused.status, await codeOf(refused), guard.runs()]).toEqual([400, 'INVALID_INTENT', 0])
    expect((await guard.post('"k1"; v=1;w=2')).status).toBe(201)
  },
)

/** Lets go as soon as the request is under way. */
async function letGo(send: (signal: AbortSignal) => Promise<Response> | Response): Promise<Response> {
  const client = new AbortController()
  const answer = send(client.signal)
  client.abort()
  return await answer
}

describe('a client that is gone when its claim comes back [R9] [R61]', () => {
  test('over Fetch: the handler does not begin, and the key is good', async () => {
    const guard = guarded()
    const answer = await letGo((signal) => guard.post('k1', { signal }))
    expect([await codeOf(answer), guard.runs(), await stateOf(guard)]).toEqual(['CLIENT_GONE', 0, 'released'])
    expect([(await guard.post('k1')).status, guard.runs()]).toEqual([201, 1])
  })

  test('on Hono without Node underneath: the same', async () => {
    const ibid = openIbid()
    let runs = 0
    const app = new Hono()
    app.use(onHono(ibid))
    app.post('/refunds', (context) => context.json({ refund: ++runs }, 201))
    const headers = { 'idempotency-key': 'k1' }
    const post = (signal?: AbortSignal): Promise<Response> | Response =>
      app.request('/refunds', { method: 'POST', body: '{}', headers, ...(signal && { signal }) })
    expect([(await letGo(post)).status, runs, await stateOf({ ibid })]).toEqual([499, 0, 'released'])
    expect([(await post()).status, runs]).toEqual([201, 1])
  })
})

/** What others got wrong over HTTP, as tests with names. */
import { expect, test } from 'vitest'
import { createIbid, NotExecuted } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { faultyStore } from '../../src/testing/index.js'
import { codeOf, guarded, openIbid } from './fetch.js'

test('a store that fails is an answer, and the request does not hang (node-idempotency on Express) [R12]', async () => {
  const store = faultyStore(memoryStore())
  const { post, runs } = guarded({}, undefined, openIbid({ store }))
  store.startOutage()
  const down = await post('k1')
  expect([down.status, await codeOf(down), runs()]).toEqual([503, 'STORE_UNAVAILABLE', 0])
  store.endOutage()
  expect((await post('k1')).status).toBe(201)
})

test('a stored stream does not replay empty, nor stay in progress (actor-ts#1308, node-idempotency)', async () => {
  const { post, runs } = guarded(
    {},
    () => new Response(ReadableStream.from([Buffer.from('a'), Buffer.from('b')])),
  )
  expect(await (await post('k1')).text()).toBe('ab')
  const again = await post('k1')
  expect([await again.text(), again.headers.get('idempotency-replayed'), runs()]).toEqual(['ab', 'true', 1])
})

test('a client cannot make a first answer look like a hit (express-idempotency)', async () => {
  const { post } = guarded({}, ({ headers }) => new Response('done', { headers }))
  const first = await post('k1', { headers: { 'idempotency-replayed': 'true' } })
  expect(first.headers.get('idempotency-replayed')).toBeNull()
})

const tenantOf = ({ headers }: Request): string | undefined => headers.get('x-tenant') ?? undefined

test('nothing is replayed across tenants, and no tenant is not everybody (hono-idempotency#126) [R1]', async () => {
  const { post, runs } = guarded({ tenant: tenantOf }, undefined, openIbid({ tenant: 'never' }))
  await post('k1', { headers: { 'x-tenant': 'a' } })
  const other = await post('k1', { headers: { 'x-tenant': 'b' } })
  expect([other.headers.get('idempotency-replayed'), runs()]).toEqual([null, 2])
  expect([(await post('k1')).status, runs()]).toEqual([403, 2])
})

test('[R1] a tenant that is null is none, as one that is undefined', async () => {
  const { post, runs } = guarded({ tenant: ({ headers }) => headers.get('x-tenant') as string })
  const answer = await post('k1')
  expect([answer.status, await codeOf(answer), runs()]).toEqual([403, 'FORBIDDEN_SCOPE', 0])
})

test('a guard without any tenant refuses to start, and says what to give it [R1]', () => {
  const ibid = createIbid({ store: memoryStore(), housekeeping: false })
  expect(() => guarded({}, undefined, ibid)).toThrow(/the HTTP guard got no tenant/)
})

test('a 429 after the reservation gives the key back (Cordum gateway)', async () => {
  let free = false
  const { post, runs } = guarded({}, () => new Response(null, { status: free ? 201 : 429 }))
  expect((await post('k1')).status).toBe(429)
  free = true
  const later = await post('k1')
  expect([later.status, later.headers.get('idempotency-replayed'), runs()]).toEqual([201, null, 2])
})

test('a handler that says that it did nothing gives the key back, whatever the status', async () => {
  const { post, ibid } = guarded({}, () => {
    throw new NotExecuted('the bank is closed')
  })
  const first = await post('k1')
  expect([first.status, await codeOf(first)]).toEqual([503, 'NOT_EXECUTED'])
  expect(await ibid.get({ scope: 'http:POST /refunds', key: 'k1' })).toMatchObject({ state: 'released' })
})

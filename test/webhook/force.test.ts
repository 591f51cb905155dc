/** A deliberate redelivery: only where the program says so, with who and why on record, and once as well. */
import { expect, test } from 'vitest'
import { type ForceOrder, github, webhook, type WebhookEvent } from '../../src/guards/webhook/index.js'
import { bench, told } from './bench.js'
import { deliver, githubVendor } from './vendors.js'

const source = github({ secret: githubVendor.secret })

function open(orders: Map<string, ForceOrder>) {
  const { ibid, writes } = bench()
  const seen: WebhookEvent[] = []
  const hook = webhook(ibid, {
    source,
    handle: (event) => void seen.push(event),
    force: ({ id }) => orders.get(id),
  })
  return { ibid, hook, seen, writes }
}

test("GitHub's redelivery keeps its id: without an order it is a duplicate, with one it runs again, once", async () => {
  const orders = new Map<string, ForceOrder>()
  const { hook, seen, ibid } = open(orders)
  const send = async () => told(hook(await deliver(githubVendor, { id: 'd1' })))
  expect((await send()).body['outcome']).toBe('handled')
  expect((await send()).body['outcome']).toBe('duplicate')
  orders.set('d1', { run: 'inc-7', by: 'mina', why: 'the mail server had lost it' })
  expect((await send()).body['outcome']).toBe('handled')
  expect((await send()).body['outcome']).toBe('duplicate')
  orders.set('d1', { run: 'inc-8', by: 'mina', why: 'and again' })
  expect((await send()).body['outcome']).toBe('handled')
  orders.delete('d1')
  expect((await send()).body['outcome']).toBe('duplicate')
  expect(seen.map(({ forced }) => forced?.run)).toEqual([undefined, 'inc-7', 'inc-8'])
  const record = await ibid.get({ scope: 'hook:github:force', key: 'd1:inc-7' })
  expect(record?.value).toEqual({ event: 'd1', run: 'inc-7', by: 'mina', why: 'the mail server had lost it' })
  expect(record?.windowMs).toBe(30 * 86_400_000)
  const run = await ibid.get({ scope: 'hook:github:forced', key: 'd1:inc-7' })
  expect(run?.state).toBe('succeeded')
})

test('the order is on record before the handler runs', async () => {
  const { ibid } = bench()
  let recorded: unknown
  const hook = webhook(ibid, {
    source,
    force: () => ({ run: 'r1', by: 'mina', why: 'test' }),
    handle: async () => {
      recorded = (await ibid.get({ scope: 'hook:github:force', key: 'evt_1:r1' }))?.value
    },
  })
  expect((await hook(await deliver(githubVendor))).status).toBe(200)
  expect(recorded).toMatchObject({ by: 'mina', why: 'test' })
})

test('a forged delivery does not reach the force path', async () => {
  const { ibid, writes } = bench()
  let asked = 0
  const hook = webhook(ibid, {
    source,
    handle: () => undefined,
    force: () => {
      asked++
      return { run: 'r', by: 'b', why: 'w' }
    },
  })
  expect((await hook(await deliver(githubVendor, { secret: 'wrong' }))).status).toBe(401)
  expect([asked, writes()]).toEqual([0, 0])
})

test.each([
  { run: '', by: 'b', why: 'w' },
  { run: 'r', by: ' ', why: 'w' },
  { run: 'r', by: 'b' },
  { run: 'r'.repeat(65), by: 'b', why: 'w' },
])('an order without a name, a person or a reason is not carried out: %j', async (order) => {
  const { hook, seen, writes } = open(new Map([['d1', order as ForceOrder]]))
  expect((await hook(await deliver(githubVendor, { id: 'd1' }))).status).toBe(503)
  expect(seen).toEqual([])
  expect(writes()).toBe(0)
})

test('one run is one order: the same name for another reason is not carried out', async () => {
  const orders = new Map([['d1', { run: 'r', by: 'mina', why: 'one' }]])
  const { hook, seen } = open(orders)
  expect((await hook(await deliver(githubVendor, { id: 'd1' }))).status).toBe(200)
  orders.set('d1', { run: 'r', by: 'noor', why: 'two' })
  expect((await hook(await deliver(githubVendor, { id: 'd1' }))).status).toBe(503)
  expect(seen).toHaveLength(1)
})

test('ids that are as long as a key can be are forced as well', async () => {
  const id = '~/'.repeat(127)
  const { hook, seen } = open(new Map([[id, { run: 'r', by: 'mina', why: 'long' }]]))
  for (let i = 0; i < 2; i++) expect((await hook(await deliver(githubVendor, { id }))).status).toBe(200)
  expect(seen).toHaveLength(1)
})

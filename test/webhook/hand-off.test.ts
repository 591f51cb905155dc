/** Handing over to a queue: the message carries the event's key, and the same one however often it is sent. */
import { expect, test } from 'vitest'
import { type HandOff, stripe, webhook } from '../../src/guards/webhook/index.js'
import { bench } from './bench.js'
import { deliver, stripeVendor } from './vendors.js'

const source = stripe({ secret: stripeVendor.secret })

test('[R20] [R46] the message key is in the header that consumers read', async () => {
  const { ibid } = bench()
  const sent: HandOff[] = []
  const hook = webhook(ibid, { source, enqueue: (message) => void sent.push(message) })
  for (let i = 0; i < 2; i++) expect((await hook(await deliver(stripeVendor))).status).toBe(200)
  expect(sent).toHaveLength(1)
  const [{ key, headers, body, event }] = sent as [HandOff]
  expect(headers).toEqual({ 'ibid-message-key': key })
  expect(key).toMatch(/^[\w:-]{20,255}$/)
  expect(Buffer.from(body).toString()).toBe(stripeVendor.body('evt_1'))
  expect(event.id).toBe('evt_1')
})

test('a broker that is away, or whose answer was lost: the vendor comes again, the key is the same', async () => {
  const { ibid } = bench()
  const keys: string[] = []
  const hook = webhook(ibid, {
    source,
    enqueue: ({ key }) => {
      keys.push(key)
      // More often than attempts are usually allowed.
      if (keys.length <= 12) throw new Error('ECONNRESET')
    },
  })
  for (let i = 0; i < 12; i++) expect((await hook(await deliver(stripeVendor))).status).toBe(503)
  expect((await hook(await deliver(stripeVendor))).status).toBe(200)
  expect((await hook(await deliver(stripeVendor))).status).toBe(200)
  expect(keys).toHaveLength(13)
  expect(new Set(keys).size).toBe(1)
})

test('other events, tenants, endpoints and forced runs have other keys', async () => {
  const { ibid } = bench()
  const keys: string[] = []
  const enqueue = ({ key }: HandOff): void => void keys.push(key)
  const orders = [undefined, { run: 'r', by: 'mina', why: 'lost' }]
  const hooks = [
    ...['one', 'two'].map((endpoint) => webhook(ibid, { source, enqueue, endpoint })),
    ...['a', 'b'].map((tenant) => webhook(ibid, { source, enqueue, tenant })),
    ...orders.map((order) => webhook(ibid, { source, enqueue, endpoint: 'three', force: () => order })),
  ]
  for (const hook of hooks) {
    for (const id of ['evt_1', 'evt_2'])
      expect((await hook(await deliver(stripeVendor, { id }))).status).toBe(200)
  }
  expect(keys).toHaveLength(12)
  expect(new Set(keys).size).toBe(12)
})

/** How an attempt ends decides whether the vendor sends the event again. Nothing is lost, nothing is done twice. */
import { describe, expect, test } from 'vitest'
import { stripe, webhook, type WebhookEvent, type WebhookOptions } from '../../src/guards/webhook/index.js'
import { createIbid, NotExecuted, OutcomeUnknown, Rejected } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { bench, told } from './bench.js'
import { deliver, slackVendor, stripeVendor } from './vendors.js'

const source = stripe({ secret: stripeVendor.secret })
const WHERE = { tenant: 'acme', scope: 'hook:stripe', key: 'evt_1' }

/** A handler that ends as told, delivery by delivery, and counts how often it ran. */
function handler(...ends: readonly (Error | undefined)[]) {
  let runs = 0
  return {
    runs: () => runs,
    handle: () => {
      const end = ends[Math.min(runs++, ends.length - 1)]
      if (end) throw end
    },
  }
}

describe('a handler that', () => {
  test('[R9] throws Rejected: 200, stored, and never run again', async () => {
    const { ibid } = bench()
    const { runs, handle } = handler(new Rejected('no such order: row 17 of orders'))
    const hook = webhook(ibid, { source, handle })
    for (let i = 0; i < 3; i++) {
      const { status, body } = await told(hook(await deliver(stripeVendor)))
      expect([status, body]).toEqual([200, { received: true, outcome: 'rejected' }])
    }
    expect(runs()).toBe(1)
    expect((await ibid.get(WHERE))?.state).toBe('failed')
  })

  test('[R9] throws NotExecuted: 503, and the next delivery runs it', async () => {
    const { ibid } = bench()
    const { runs, handle } = handler(new NotExecuted('the bank is closed'), undefined)
    const hook = webhook(ibid, { source, handle })
    const { status, body, headers } = await told(hook(await deliver(stripeVendor)))
    expect([status, body['code'], body['retriable']]).toEqual([503, 'NOT_HANDLED', true])
    expect(headers.get('retry-after')).toBe('1')
    expect(JSON.stringify(body)).not.toContain('bank')
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect(runs()).toBe(2)
  })

  test.each([
    ['OutcomeUnknown', new OutcomeUnknown('the bank did not answer')],
    ['anything else, under hold', new TypeError('x is not a function')],
  ])('[R7] [R14] throws %s: held, 503 until a person decides, and then as decided', async (_name, error) => {
    for (const as of ['succeeded', 'failed', 'released'] as const) {
      const { ibid } = bench()
      const { runs, handle } = handler(error, undefined)
      const hook = webhook(ibid, { source, handle })
      for (let i = 0; i < 3; i++) {
        const { status, body } = await told(hook(await deliver(stripeVendor)))
        expect([status, body['code']]).toEqual([503, 'OUTCOME_UNKNOWN'])
      }
      expect(runs()).toBe(1)
      const resolution = as === 'failed' ? { as, error: { message: 'no' } } : { as }
      await ibid.resolve(WHERE, resolution, { by: 'mina', why: 'looked it up' })
      expect((await hook(await deliver(stripeVendor))).status).toBe(200)
      expect(runs()).toBe(as === 'released' ? 2 : 1)
    }
  })

  test('[R7] throws anything else, under retry: 503, and the next delivery runs it', async () => {
    const { ibid } = bench()
    const seen: unknown[] = []
    const { runs, handle } = handler(new TypeError('once'), undefined)
    const onError = (error: unknown, event: WebhookEvent | undefined) => seen.push([String(error), event?.id])
    const hook = webhook(ibid, { source, handle, recovery: 'retry', onError })
    expect((await hook(await deliver(stripeVendor))).status).toBe(503)
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect(runs()).toBe(2)
    expect(seen).toEqual([['TypeError: once', 'evt_1']])
  })

  test('[R7] throws, under check: the check is asked with the event, and what was done is not done again', async () => {
    const { ibid } = bench()
    const asked: string[] = []
    const { runs, handle } = handler(new TypeError('the answer was lost'))
    const check = (event: WebhookEvent) => {
      asked.push(event.id)
      return { found: true as const, value: undefined }
    }
    const hook = webhook(ibid, { source, handle, recovery: { check } })
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect([runs(), asked]).toEqual([1, ['evt_1']])
  })

  test('throws an error of a receipt of its own: that is not taken for an error of this one', async () => {
    const { ibid } = bench()
    await ibid.once({ scope: 'inner', key: 'k', payload: 1 }, () => 1)
    const handle = () => ibid.once({ scope: 'inner', key: 'k', payload: 2 }, () => 2)
    const hook = webhook(ibid, { source, handle, recovery: 'retry' })
    const { status, body } = await told(hook(await deliver(stripeVendor)))
    expect([status, body['code']]).toEqual([503, 'NOT_HANDLED'])
  })

  test('returns something that cannot be kept: it is done all the same', async () => {
    const { ibid } = bench()
    let runs = 0
    const hook = webhook(ibid, {
      source,
      handle: () => {
        runs++
        const circle: { self?: object } = {}
        circle.self = circle
        return circle
      },
      respond: () => new Response('done', { status: 200 }),
    })
    expect(await (await hook(await deliver(stripeVendor))).text()).toBe('done')
    const { status, body } = await told(hook(await deliver(stripeVendor)))
    expect([status, body]).toEqual([200, { received: true, outcome: 'duplicate' }])
    expect(runs).toBe(1)
  })
})

describe('around the handler', () => {
  test('[R12] store down: 503, the handler does not run, and the event is handled when it is back', async () => {
    const { ibid, store, effects } = bench()
    const hook = webhook(ibid, { source, handle: ({ id }) => void effects.push(id) })
    store.startOutage()
    const { status, body, headers } = await told(hook(await deliver(stripeVendor)))
    expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'STORE_UNAVAILABLE', '1'])
    expect(effects).toEqual([])
    store.endOutage()
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect(effects).toEqual(['evt_1'])
  })

  test('[R12] a forged delivery is 401 while the store is down: it is not even asked', async () => {
    const { ibid, store, writes } = bench()
    const hook = webhook(ibid, { source, handle: () => undefined })
    store.startOutage()
    expect((await hook(await deliver(stripeVendor, { secret: 'wrong' }))).status).toBe(401)
    expect(writes()).toBe(0)
  })

  test.each<[string, Partial<WebhookOptions>]>([
    ['the tenant resolver', { tenant: () => Promise.reject(new Error('directory down')) }],
    ['the force path', { force: () => Promise.reject(new Error('database down')) }],
    [
      'the lookup of the secret',
      { source: stripe({ secret: () => Promise.reject(new Error('vault down')) }) },
    ],
    ['the clock', { now: () => expect.fail('no clock') }],
  ])('%s fails: 503, so that the vendor comes again', async (_name, broken) => {
    const { ibid, writes } = bench()
    const errors: unknown[] = []
    const onError = (error: unknown) => {
      errors.push(error)
      throw new Error('and the observer fails too')
    }
    const hook = webhook(ibid, { source, handle: () => undefined, onError, ...broken } as WebhookOptions)
    const { status, body } = await told(hook(await deliver(stripeVendor)))
    expect([status, body['code']]).toEqual([503, 'NOT_HANDLED'])
    expect(errors).toHaveLength(1)
    expect(writes()).toBe(0)
  })

  test('a closed ibid, as in a server that is going down: 503', async () => {
    const { ibid } = bench()
    const hook = webhook(ibid, { source, handle: () => undefined })
    await ibid.close()
    expect((await hook(await deliver(stripeVendor))).status).toBe(503)
  })

  test('[R10] transact: the writes of the handler and the receipt are one', async () => {
    const store = memoryStore()
    const { ibid } = bench({ store })
    let runs = 0
    const hook = webhook(ibid, {
      source,
      transact: () => {
        if (++runs === 1) throw new TypeError('before the commit')
      },
    })
    expect((await hook(await deliver(stripeVendor))).status).toBe(503)
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect((await hook(await deliver(stripeVendor))).status).toBe(200)
    expect(runs).toBe(2)
  })

  test("[R5] respond: a duplicate gets the first one's answer, as Slack's commands need it", async () => {
    const { ibid } = bench()
    let n = 0
    const hook = webhook(ibid, {
      source: slackVendor.source(slackVendor.secret),
      handle: () => ({ text: `run ${++n}` }),
      respond: (value) => Response.json(value),
    })
    for (let i = 0; i < 2; i++) {
      expect(await (await hook(await deliver(slackVendor))).json()).toEqual({ text: 'run 1' })
    }
  })

  test.each([
    ['throws', () => Promise.reject(new Error('no such template'))],
    ['gives no Response', () => undefined as never],
  ])('[R35] respond %s: the answer says that the event was handled', async (_how, respond) => {
    const { ibid, effects } = bench()
    const errors: unknown[] = []
    const hook = webhook(ibid, {
      source,
      handle: ({ id }) => effects.push(id),
      respond,
      onError: (error, event) => errors.push([error instanceof Error, event?.id]),
    })
    for (let i = 0; i < 2; i++) {
      const { status, body } = await told(hook(await deliver(stripeVendor)))
      expect([status, body['code'], body['detail']]).toEqual([
        503,
        'NOT_ANSWERED',
        'the event was handled, and the answer to it could not be made',
      ])
    }
    expect([effects, errors]).toEqual([
      ['evt_1'],
      [
        [true, 'evt_1'],
        [true, 'evt_1'],
      ],
    ])
  })

  test('[R8] [R35] an attempt that lost its lease does not say that the event was not handled', async () => {
    const { ibid, store, effects } = bench()
    const other = createIbid({ store, tenant: 'acme', housekeeping: false })
    const policy = { lease: 100, recovery: 'retry' } as const
    const second = webhook(other, { source, ...policy, handle: () => effects.push('second') })
    const first = webhook(ibid, {
      source,
      ...policy,
      handle: async () => {
        effects.push('first')
        // Its loop stands still, and nobody renews its lease.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
        await second(await deliver(stripeVendor))
      },
    })
    const { status, body } = await told(first(await deliver(stripeVendor)))
    expect(effects).toEqual(['first', 'second'])
    expect([status, body['code'], body['retriable']]).toEqual([409, 'LEASE_LOST', true])
  })

  test('what a handler returns is not kept unless an answer is made of it', async () => {
    const { ibid } = bench()
    const hook = webhook(ibid, { source, handle: () => ({ card: '4242' }) })
    await hook(await deliver(stripeVendor))
    expect((await ibid.get(WHERE))?.value).toBeUndefined()
  })
})

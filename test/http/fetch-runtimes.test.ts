/** Hono where there is no Node underneath: whatever becomes of a handler ends its run, and no body is too long. */
import { type Context, Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { idempotent } from '../../src/adapters/hono.js'
import type { HttpOptions } from '../../src/guards/http/index.js'
import { codeOf, openIbid } from './fetch.js'
import { gate } from './gate.js'

type Body = string | ReadableStream<Uint8Array>
type Handle = (context: Context) => Response | Promise<Response>

interface Serving {
  post(body?: Body, headers?: Record<string, string>): Promise<Response>
  state(): Promise<unknown>
  /** True: nothing was left to wait for. */
  closes(): Promise<boolean>
}

function serve(handle: Handle, options: HttpOptions<Context> = {}): Serving {
  const ibid = openIbid()
  const app = new Hono()
  // The time is for the test: without a fault nothing comes near it.
  app.use(idempotent(ibid, { policy: { wait: 0, timeout: '3s' }, ...options }))
  app.post('/refunds', handle)
  app.onError((error, context) => context.text(error.message, 500))
  return {
    post: async (body = '{}', headers = {}) =>
      app.request('/refunds', {
        method: 'POST',
        body,
        headers: { 'idempotency-key': 'k1', ...headers },
        duplex: 'half',
      }),
    state: async () => (await ibid.get({ scope: 'http:POST /refunds', key: 'k1' }))?.state,
    closes: () =>
      Promise.race([
        ibid.close().then(() => true),
        new Promise<boolean>((resolve) => setTimeout(resolve, 1_000, false)),
      ]),
  }
}

const whole: Handle = async (context) => context.text(await context.req.text(), 201)

function stream(...pieces: readonly (string | Error)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(to) {
      for (const piece of pieces) {
        if (piece instanceof Error) return to.error(piece)
        to.enqueue(Buffer.from(piece))
      }
      to.close()
    },
  })
}

describe('a run ends with its handler [R9] [R61]', () => {
  test('a body that breaks at its first read: the key is held, and the framework answers', async () => {
    const { post, state, closes } = serve(() => new Response(stream(new Error('upstream broke'))))
    const first = await post()
    expect([first.status, await first.text(), await state()]).toEqual([500, 'upstream broke', 'unknown'])
    expect(await codeOf(await post())).toBe('OUTCOME_UNKNOWN')
    expect(await closes()).toBe(true)
  })

  test('something thrown that is no error: it comes out again, and the key is held', async () => {
    const { post, state, closes } = serve(() => {
      // oxlint-disable-next-line typescript/only-throw-error
      throw 'a text'
    })
    await expect(post()).rejects.toBe('a text')
    expect(await state()).toBe('unknown')
    expect(await closes()).toBe(true)
  })

  test('time that is up: 504 at once, and the late response changes nothing', async () => {
    const end = gate()
    const late = async (context: Context): Promise<Response> => {
      await end.opened
      return context.text('late', 201)
    }
    const { post, state } = serve(late, { policy: { wait: 0, timeout: 50 } })
    const first = await post()
    end.open()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([first.status, await codeOf(first), await state()]).toEqual([504, 'OUTCOME_UNKNOWN', 'unknown'])
    expect((await post()).status).toBe(409)
  }, 5_000)
})

describe('no body is longer than allowed, whatever it says of itself', () => {
  const short = { maxRequestBytes: 10 }

  test.each<[string, () => Body, Record<string, string>]>([
    ['nothing', () => stream('12345', '6789', '0!'), {}],
    ['the truth', () => '1234567890!', { 'content-length': '11' }],
    ['too little', () => '1234567890!', { 'content-length': '3' }],
  ])('one that says %s: 413, and nothing is written', async (_what, body, headers) => {
    const { post, state } = serve(whole, short)
    const refused = await post(body(), headers)
    expect([refused.status, await codeOf(refused), await state()]).toEqual([413, 'TOO_LARGE', undefined])
  })

  test('one that just fits comes whole, and is compared', async () => {
    const { post } = serve(whole, short)
    const first = await post(stream('12345', '67890'))
    expect([first.status, await first.text()]).toEqual([201, '1234567890'])
    expect((await post(stream('1234567890'))).headers.get('idempotency-replayed')).toBe('true')
    expect((await post(stream('123456789'))).status).toBe(422)
  })
})

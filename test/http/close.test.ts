/** A response whose client is gone is told to be closed in the end, once, whichever way its handler ends. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { idempotent } from '../../src/adapters/node.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { faultyStore } from '../../src/testing/index.js'
import { call, send } from './client.js'
import { openIbid } from './fetch.js'
import { listen } from './listen.js'

const where = { scope: 'http:POST /refunds', key: 'k1' }
const never = new Promise<never>(() => {})

type Handle = (response: ServerResponse, gone: Promise<void>) => Promise<unknown>

/** `piece`: what is streamed before the client goes. */
const WAYS: readonly (readonly [way: string, state: string, piece: string, handle: Handle])[] = [
  ['ends it', 'succeeded', '', (response, gone) => gone.then(() => response.end('done'))],
  ['ends its stream', 'succeeded', 'a', (response, gone) => gone.then(() => response.end('done'))],
  ['destroys it', 'unknown', '', (response, gone) => gone.then(() => response.destroy())],
  ['destroys its stream', 'unknown', 'a', (response, gone) => gone.then(() => response.destroy())],
  ['comes too late', 'unknown', '', () => never],
  ['streams for too long', 'unknown', 'a', () => never],
]

/** A server that counts its open responses, and a client that goes as soon as its handler has begun. */
async function leave(
  handle: Handle,
  piece: string,
): Promise<{ readonly closed: () => number; readonly state: () => Promise<unknown> }> {
  const ibid = openIbid()
  let closed = 0
  let begin: () => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const guarded = idempotent(ibid, { policy: { timeout: 1_500 } })((request, response) => {
    if (piece) response.write(piece)
    begin()
    const gone = new Promise<void>((resolve) => request.socket.once('close', () => resolve()))
    return handle(
      response,
      gone.then(() => sleep(20)),
    )
  })
  const { port } = await listen((request, response) => {
    response.on('close', () => closed++)
    guarded(request, response)
  })
  const client = send(port, { key: '"k1"', path: '/refunds' }).on('error', () => {})
  await begun
  client.destroy()
  return { closed: () => closed, state: async () => (await ibid.get(where))?.state }
}

test.each(WAYS)('the handler %s: closed once, and %s [R61]', async (_way, state, piece, handle) => {
  const left = await leave(handle, piece)
  await expect.poll(left.state).toBe(state)
  await expect.poll(left.closed).toBe(1)
  await sleep(50)
  expect(left.closed()).toBe(1)
})

test('a client that goes when its time is up already is told to the handler that streams on', async () => {
  let closed = 0
  const guarded = idempotent(openIbid(), { policy: { timeout: 50 } })(async (_request, response) => {
    response.on('close', () => closed++)
    response.write('a')
    await never
  })
  const { port } = await listen(guarded)
  const client = send(port, { key: '"k1"', path: '/refunds' }).on('error', () => {})
  await sleep(200)
  client.destroy()
  await expect.poll(() => closed).toBe(1)
})

test('[R61] a handler that waits for the end of its response goes on, also when its time was up before', async () => {
  let ended = 0
  const guarded = idempotent(openIbid(), { policy: { timeout: 50 } })(async (_request, response) => {
    await sleep(150)
    await new Promise<void>((resolve) => response.end('late', () => resolve()))
    ended++
  })
  const { port } = await listen(guarded)
  const { status } = await call(port, { key: '"k1"', path: '/refunds', ms: 3_000 })
  expect(status).toBe(504)
  await expect.poll(() => ended).toBe(1)
})

test('[R61] so does one whose response could not be written down', async () => {
  const store = faultyStore(memoryStore())
  let ended = 0
  const guarded = idempotent(openIbid({ store }), { policy: { lease: 600 } })(async (_request, response) => {
    store.startOutage()
    await new Promise<void>((resolve) => response.end('done', () => resolve()))
    ended++
  })
  const { port } = await listen(guarded)
  const { status } = await call(port, { key: '"k1"', path: '/refunds', ms: 20_000 })
  expect(status).toBe(503)
  store.endOutage()
  await expect.poll(() => ended).toBe(1)
})

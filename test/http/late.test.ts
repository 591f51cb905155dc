/** A handler whose time is up: its client hears at once what a status check found, and nothing is left of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { idempotent } from '../../src/adapters/node.js'
import { call } from './client.js'
import { codeOf, guarded, openIbid } from './fetch.js'
import { gate } from './gate.js'
import { listen } from './listen.js'

const found = (body: string) => ({
  timeout: 100,
  recovery: { check: () => ({ found: true as const, value: new Response(body, { status: 201 }) }) },
})

test('[R34] over Fetch, the first client gets what the check found, and a late response changes nothing', async () => {
  const end = gate()
  const late = async (): Promise<Response> => {
    await end.opened
    return new Response('late')
  }
  const { post, runs } = guarded({ policy: found('done') }, late)
  const first = await post('k1')
  expect([first.status, await first.text()]).toEqual([201, 'done'])
  end.open()
  const again = await post('k1')
  expect([again.status, await again.text(), runs()]).toEqual([201, 'done', 1])
}, 5_000)

test('[R34] on Node, too, and what the handler ends after that waits for nobody', async () => {
  const end = gate()
  const guard = idempotent(openIbid(), { policy: found('done') })
  const { port } = await listen(
    guard(async (_request, response) => {
      await end.opened
      response.end('late')
    }),
  )
  const first = await call(port, { key: '"k1"', path: '/refunds', ms: 3_000 })
  end.open()
  expect([first.status, first.text]).toEqual([201, 'done'])
}, 5_000)

test('[R34] what the check found is too long to be kept: the first client is told that it is done', async () => {
  const never = new Promise<never>(() => {})
  const { post } = guarded({ policy: found('too long'), maxResponseBytes: 3 }, () => never)
  const first = await post('k1')
  expect([first.status, await codeOf(first)]).toEqual([410, 'VALUE_NOT_RETAINED'])
}, 5_000)

/** A body without an end, and whether anybody has let go of it. */
function endless(): { readonly body: ReadableStream<Uint8Array>; readonly isLetGo: () => boolean } {
  let isLetGo = false
  const body = new ReadableStream<Uint8Array>({
    async pull(to) {
      await sleep(10)
      if (!isLetGo) to.enqueue(Buffer.from('x'))
    },
    cancel() {
      isLetGo = true
    },
  })
  return { body, isLetGo: () => isLetGo }
}

test('[R61] the body of a response that comes too late is let go', async () => {
  const { body, isLetGo } = endless()
  const { post } = guarded({ policy: { timeout: 50 } }, async () => {
    await sleep(150)
    return new Response(body)
  })
  expect((await post('k1')).status).toBe(504)
  await expect.poll(isLetGo, { timeout: 2_000 }).toBe(true)
}, 5_000)

test.each(['before its time is up', 'after that'])(
  '[R61] a stream whose client goes %s is not read for ever',
  async (when) => {
    const { body, isLetGo } = endless()
    const { post } = guarded({ policy: { timeout: 200 } }, () => new Response(body))
    const reader = (await post('k1')).body?.getReader()
    await reader?.read()
    if (when === 'after that') await sleep(300)
    await reader?.cancel()
    await expect.poll(isLetGo, { timeout: 2_000 }).toBe(true)
  },
  5_000,
)

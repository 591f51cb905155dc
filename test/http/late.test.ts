/** A handler whose time is up, and a status check that finds what it did: its client hears of that, and at once. */
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

test('[R34] over Fetch, the first client gets what the check found, and the late response changes nothing', async () => {
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

/** Several servers on one store, and one that dies: what holds within a process holds between them. */
import { afterEach, expect, test } from 'vitest'
import { call, fresh, problem } from './client.js'
import { type Framework, type Site, startSite } from './site.js'

let sites: Site[] = []
afterEach(async () => {
  await Promise.all(sites.map((site) => site.close()))
  sites = []
})

async function start(...frameworks: [Framework, ...Framework[]]): Promise<Site[]> {
  const first = await startSite(frameworks[0], 'sqlite')
  const others = frameworks
    .slice(1)
    .map((framework) => startSite(framework, 'sqlite', undefined, first.folder))
  sites = [first, ...(await Promise.all(others))]
  return sites
}

test('one key on four frameworks in four processes at once: one effect, one response [R60]', async () => {
  const all = await start('node', 'express', 'fastify', 'hono')
  const { key, mark } = fresh()
  const asks = all.flatMap(({ port }) =>
    Array.from({ length: 12 }, () => call(port, { key, path: `/act?mark=${mark}` })),
  )
  const got = await Promise.all(asks)
  expect(new Set(got.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(got.filter(({ replayed }) => !replayed)).toHaveLength(1)
  expect(all[0]?.effects(mark)).toBe(1)
})

test('a server killed in the middle of its handler: the key is held, and nobody runs it again [R7] [R61]', async () => {
  const [victim, other] = (await start('node', 'fastify')) as [Site, Site]
  const { key, mark } = fresh()
  const ask = { key, path: `/lapse?mark=${mark}&gate=${mark}` }
  const lost = call(victim.port, ask).catch((error: Error) => error)
  await victim.begun(mark)
  await victim.kill()
  expect(await lost).toBeInstanceOf(Error)
  let answer = await call(other.port, ask)
  // In flight until the lease has lapsed: nobody can know earlier.
  while (problem(answer).code === 'RETRY_IN_FLIGHT') answer = await call(other.port, ask)
  expect([answer.status, problem(answer).code]).toEqual([409, 'OUTCOME_UNKNOWN'])
  expect(other.effects(mark)).toBe(1)
})

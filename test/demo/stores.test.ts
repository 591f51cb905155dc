/** All layers, a storm each: on SQLite, Postgres and Redis nothing happens twice and nothing is lost. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../scripts/servers/postgres.mjs'
import { startRedis } from '../../scripts/servers/redis.mjs'
import { ALL } from '../../src/cli/demo/layers.js'
import { isClean } from '../../src/cli/demo/outcome.js'
import { runStorm } from '../../src/cli/demo/run-storm.js'
import { makeStorm } from '../../src/cli/demo/storm.js'
import { openStore } from '../../src/stores/open.js'
import { folder } from '../cli/command.js'

const LONG = { timeout: 180_000 }

async function weather(seed: number, store: string): Promise<void> {
  const opened = openStore(store)
  await opened.check()
  await opened.close()
  const storm = makeStorm(seed, 30)
  const outcome = await runStorm({ storm, arm: ALL, store, folder: folder(), onProgress: () => undefined })
  expect(outcome, JSON.stringify(outcome)).toSatisfy(isClean)
  expect(outcome.kills).toBeGreaterThan(0)
}

test.each([2, 3])('[R60][R61] on SQLite, seed %i', LONG, async (seed) => {
  await weather(seed, `sqlite:${join(folder(), 'ibid.db')}`)
})

test('[R60][R61] on Postgres, seed 4', LONG, async () => {
  const server = await startPostgres()
  onTestFinished(async () => await server.stop())
  await weather(4, server.url)
})

test('[R60][R61] on Redis, seed 5', LONG, async () => {
  const server = await startRedis()
  onTestFinished(async () => await server.stop())
  await weather(5, server.url)
})

/**
 * Recorded histories of real stores, several processes at once, judged by a checker that shares nothing with them. The
 * control is a store with a planted race: it has to be seen through the same recorder and the same checker.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { describeStuck, type Recording, recordHistories } from '../../src/testing/index.js'

let postgres: PostgresServer
let redis: RedisServer

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  // The processes that record find them there.
  process.env['IBID_TEST_POSTGRES_URL'] = postgres.url
  process.env['IBID_TEST_REDIS_URL'] = redis.url
})

afterAll(() => Promise.all([postgres?.stop(), redis?.stop()]))

async function record(store: string, rounds: number): Promise<Recording> {
  const module = new URL(`../fixtures/${store}-store.mjs`, import.meta.url)
  return await recordHistories({ module, processes: 3, rounds, operations: 40, seed: 1 })
}

test.each(['sqlite', 'postgres', 'redis'])(
  '[R2, R8, R60] %s: what processes were told at once can be put in one order',
  async (store) => {
    const { operations, unanswered, histories, failed } = await record(store, 6)
    expect(failed.map(describeStuck)).toEqual([])
    expect(histories).toBe(18)
    expect(operations).toBeGreaterThan(6 * 3 * 40 - 1)
    expect(unanswered).toBe(0)
  },
)

test('a store that answers nothing is not taken for one that answers well', async () => {
  expect(await record('mute', 1)).toMatchObject({ operations: 0, failed: [] })
  expect((await record('mute', 1)).unanswered).toBeGreaterThan(100)
})

test('[R2] a claim that reads first and inserts after has no order', async () => {
  const { failed } = await record('racy', 3)
  expect(failed.length).toBeGreaterThan(0)
  expect(describeStuck(failed[0] as (typeof failed)[0])).toMatch(/"won":true/)
})

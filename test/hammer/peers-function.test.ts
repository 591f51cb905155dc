/**
 * The hammer against Powertools for AWS Lambda 2.35, used as its documentation says (examples/hammer/powertools.mjs), on
 * both of its stores. DynamoDB is Amazon's emulator.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePeers } from '../../bench/peers/install.mjs'
import { createTable } from '../../scripts/peers/dynamodb-table.mjs'
import { type DynamodbEmulator, startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { folder } from '../cli/command.js'
import { hammerFunction, verdictsOf } from './site.js'

let redis: RedisServer
let dynamodb: DynamodbEmulator

beforeAll(async () => {
  ensurePeers(() => undefined)
  ;[redis, dynamodb] = await Promise.all([startRedis(), startDynamodb()])
  await createTable(dynamodb)
}, 180_000)

afterAll(async () => {
  await Promise.all([redis.stop(), dynamodb.stop()])
})

const DONE_AGAIN = 'violated: 2 effects for 1 key: it was done again after the restart'

test('[R62] finds in Powertools on DynamoDB: second effects after a failure and after a crash; the rest holds', async () => {
  const ran = await hammerFunction('powertools', { REFUNDS: folder(), POWERTOOLS_STORE: dynamodb.endpoint })
  expect(verdictsOf(ran)).toMatchObject({
    'same-key-twice': 'held',
    'many-at-once': 'held',
    'other-payload-after': 'held',
    'other-payload-during': 'held',
    'key-missing': 'held',
    'long-key': 'held',
    'odd-key': 'held',
    'cut-off': 'held',
    'retry-after-failure': 'violated: 2 effects for 1 key',
    'replay-fidelity': 'held',
    'restart-between': 'held',
    'restart-in-the-middle': DONE_AGAIN,
  })
  expect(ran.code).toBe(3)
})

test('[R62] finds in Powertools on Redis: with payloads validated, no retry gets its result', async () => {
  const ran = await hammerFunction('powertools', { REFUNDS: folder(), POWERTOOLS_STORE: redis.url })
  expect(verdictsOf(ran)).toMatchObject({
    'same-key-twice': 'violated: the retry got throws IdempotencyValidationError',
    'many-at-once': 'violated: 19 of 20 callers got throws IdempotencyValidationError',
    'other-payload-after':
      'violated: after that, a retry of the first payload got throws IdempotencyValidationError',
    'other-payload-during': 'held',
    'key-missing': 'held',
    'long-key': 'held',
    'odd-key': 'held',
    'retry-after-failure': 'violated: 2 effects for 1 key',
    'replay-fidelity': 'not tested: there was no replay: returns, then throws IdempotencyValidationError',
    'restart-between': 'violated: after the restart, the retry got throws IdempotencyValidationError',
    'restart-in-the-middle': DONE_AGAIN,
  })
  expect(ran.code).toBe(3)
})

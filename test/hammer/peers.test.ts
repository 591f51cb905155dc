/**
 * The hammer against published packages, each used as its documentation says (examples/hammer): the faults that each
 * really has are found, and what it does well is said to hold. DynamoDB is Amazon's emulator.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ensurePeers } from '../../bench/peers/install.mjs'
import { createTable } from '../../scripts/peers/dynamodb-table.mjs'
import { type DynamodbEmulator, startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { hammerFunction, hammerSite, homeOf, startSite, verdictsOf } from './site.js'

/** They run at the same time, and on a busy machine each takes its time. */
vi.setConfig({ testTimeout: 180_000 })

const CALLERS = ['--header', 'x-tenant=acme', '--other-header', 'x-tenant=umbrella']
const REPLAY_TO_ANOTHER = 'violated: another caller got the first caller’s answer'
const NO_RESTART = 'not tested: no way to restart it: give --restart'

/** What the best of them would get, of the properties that are tested of all of them. */
const ALL_HELD = {
  'same-key-twice': 'held',
  'many-at-once': 'held',
  'other-payload-after': 'held',
  'other-payload-during': 'held',
  'key-missing': 'held',
  'long-key': 'held',
  'odd-key': 'held',
  'cut-off': 'held',
  'retry-after-failure': 'held',
  'replay-fidelity': 'held',
  'restart-between': 'held',
}

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

/**
 * It is restarted nowhere: its memory is not meant to outlive a process, and says so. Its keys are optional by
 * design.
 */
test.concurrent('[R62] express-idempotency 1.0.6: spoofed hits, repeats, replays to others', async (context) => {
  const site = await startSite(context, 'express-idempotency')
  const ran = await hammerSite(site, ...CALLERS, '--key-optional', '--answer', '8s')
  expect(verdictsOf(ran)).toEqual({
    ...ALL_HELD,
    'retry-after-failure': 'violated: 2 effects for 1 key',
    'claimed-replay': 'violated: 0 effects for 1 key; it got no answer in 8000 ms',
    'other-caller': REPLAY_TO_ANOTHER,
    'restart-between': NO_RESTART,
    'restart-in-the-middle': NO_RESTART,
  })
  expect(ran.code).toBe(3)
})

test.concurrent('[R62] @node-idempotency/core 1.0.11: stuck after a crash, replays to others', async (context) => {
  const site = await startSite(context, 'node-idempotency', redis.url)
  const ran = await hammerSite(site, ...CALLERS, '--restart', site.restart, '--patience', '8s')
  expect(verdictsOf(ran)).toEqual({
    ...ALL_HELD,
    'claimed-replay': 'held',
    'other-caller': REPLAY_TO_ANOTHER,
    'restart-in-the-middle': 'violated: still told to come back (409) after 8 s',
  })
  expect(ran.code).toBe(3)
})

test.concurrent('[R62] idempotency-backend 1.0.4: no claim, replays to any payload', async (context) => {
  const site = await startSite(context, 'idempotency-backend')
  const ran = await hammerSite(site, ...CALLERS, '--restart', site.restart)
  expect(verdictsOf(ran)).toEqual({
    ...ALL_HELD,
    'many-at-once': expect.stringMatching(
      /^violated: \d+ effects for 1 key; the callers got \d+ different/,
    ) as string,
    'other-payload-after': 'violated: the other payload got 200',
    'other-payload-during': expect.stringMatching(
      /^violated: \d effects for 4 keys; both payloads/,
    ) as string,
    'key-missing':
      'violated: another payload without a key was answered without an effect: it was taken for the first',
    'cut-off': 'violated: 2 effects for 1 key',
    'retry-after-failure': 'violated: 2 effects for 1 key',
    'replay-fidelity': expect.stringMatching(
      /^violated: 201 became 200; the body became \{"cached":true,"data":\{"refund":\d+,"amount":100\}\}$/,
    ) as string,
    'claimed-replay': 'held',
    'other-caller': REPLAY_TO_ANOTHER,
    'restart-in-the-middle': 'violated: 2 effects for 1 key: it was done again after the restart',
  })
  expect(ran.code).toBe(3)
})

const DONE_AGAIN = 'violated: 2 effects for 1 key: it was done again after the restart'

test.concurrent('[R62] Powertools 2.35 on DynamoDB: repeats after a failure and after a crash', async (context) => {
  const ran = await hammerFunction('powertools', {
    REFUNDS: homeOf(context),
    POWERTOOLS_STORE: dynamodb.endpoint,
  })
  expect(verdictsOf(ran)).toMatchObject({
    ...ALL_HELD,
    'retry-after-failure': 'violated: 2 effects for 1 key',
    'restart-in-the-middle': DONE_AGAIN,
  })
  expect(ran.code).toBe(3)
})

test.concurrent('[R62] Powertools 2.35 on Redis: no retry gets its result', async (context) => {
  const ran = await hammerFunction('powertools', { REFUNDS: homeOf(context), POWERTOOLS_STORE: redis.url })
  expect(verdictsOf(ran)).toMatchObject({
    ...ALL_HELD,
    'same-key-twice': 'violated: the retry got throws IdempotencyValidationError',
    'many-at-once': 'violated: 19 of 20 callers got throws IdempotencyValidationError',
    'other-payload-after':
      'violated: after that, a retry of the first payload got throws IdempotencyValidationError',
    'retry-after-failure': 'violated: 2 effects for 1 key',
    'replay-fidelity': 'not tested: there was no replay: returns, then throws IdempotencyValidationError',
    'restart-between': 'violated: after the restart, the retry got throws IdempotencyValidationError',
    'restart-in-the-middle': DONE_AGAIN,
  })
  expect(ran.code).toBe(3)
})

/**
 * The hammer against published packages, each used as its documentation says (examples/hammer): the faults that each
 * really has are found, and what it does well is said to hold.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePeers } from '../../bench/peers/install.mjs'
import { createTable } from '../../scripts/peers/dynamodb-table.mjs'
import { type DynamodbEmulator, startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { folder } from '../cli/command.js'
import { hammerFunction, hammerSite, startSite, verdictsOf } from './site.js'

const CALLERS = ['--header', 'x-tenant=acme', '--other-header', 'x-tenant=umbrella']
/** Longer than any lock that is meant to lapse here. */
const PATIENCE = ['--patience', '6s', '--answer', '6s']

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

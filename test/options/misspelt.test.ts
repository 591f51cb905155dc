/**
 * Whatever takes options refuses one that it does not have, by name, before it does anything: an option that is
 * misspelt was never given, and its default may be the opposite of what was meant.
 */
import { afterAll, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk.js'
import { anthropicTools } from '../../src/adapters/anthropic.js'
import { createFetch } from '../../src/adapters/fetch.js'
import { langchainMiddleware, langchainTools } from '../../src/adapters/langchain.js'
import { brokerHandlers, guardTransport, httpGateway, stdioGateway } from '../../src/adapters/mcp.js'
import { openaiAgentsTools } from '../../src/adapters/openai-agents.js'
import { createBroker } from '../../src/guards/broker/index.js'
import { createRuns } from '../../src/guards/run/index.js'
import { createSaga } from '../../src/guards/saga/index.js'
import { createIbid } from '../../src/index.js'
import { dynamodbStore } from '../../src/stores/dynamodb/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { openStore } from '../../src/stores/open.js'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'

const ibid = createIbid({ store: memoryStore(), tenant: 'acme' })
const runs = createRuns({ ibid, recoverEvery: false })
const broker = createBroker({ ibid, tools: [] })
const guarded = { ibid, tenant: 'acme', server: 'ledger' }
const step = { name: 'pay', do: () => 1, undo: () => 2 }
const saga = createSaga({ ibid, workflowId: 'wf_1' })
const WRONG = { wnidow: '7d' }
const never = (): never => {
  throw new RangeError('this must not run')
}

afterAll(async () => {
  await runs.close()
  await ibid.close()
})

const places: [string, () => unknown][] = [
  ['sqliteStore', () => sqliteStore('/nowhere/ibid.db', WRONG as object)],
  ['postgresStore', () => postgresStore('postgres://nobody@127.0.0.1:1/none', WRONG as object)],
  ['redisStore', () => redisStore('redis://127.0.0.1:1', WRONG as object)],
  ['dynamodbStore', () => dynamodbStore({ table: 'ibid', ...WRONG })],
  ['memoryStore', () => memoryStore(WRONG as object)],
  ['openStore', () => openStore('memory:', WRONG as object)],
  ['an intent', () => ibid.once({ scope: 's', key: 'k', ...WRONG }, never)],
  ['an intent', () => ibid.transact({ scope: 's', key: 'k', ...WRONG }, never)],
  ['an intent', () => ibid.claim({ scope: 's', key: 'k', ...WRONG })],
  ['createRuns', () => createRuns({ ibid, ...WRONG })],
  ['a trigger', () => runs.start({ agent: 'a', trigger: 1, ...WRONG }, never)],
  ['runs.tick', () => runs.tick({ name: 'n', cron: '* * * * *', timeZone: 'UTC', ...WRONG }, never)],
  ['run.step', () => runs.start({ agent: 'a', trigger: 2 }, (run) => run.step('s', never, WRONG as object))],
  [
    'run.call',
    () => runs.start({ agent: 'a', trigger: 3 }, (run) => run.call(broker, 't', {}, WRONG as object)),
  ],
  ['createSaga', () => createSaga({ ibid, workflowId: 'wf_2', ...WRONG })],
  ['step "pay"', () => saga.step({ ...step, ...WRONG })],
  ['saga.compensate', () => saga.compensate(WRONG as object)],
  ['createBroker', () => createBroker({ ibid, tools: [], ...WRONG })],
  ['the context of a call', () => broker.call('t', {}, { tenant: 'acme', ...WRONG })],
  ['createFetch', () => createFetch(WRONG as object)],
  ['httpGateway', () => httpGateway({ ...guarded, upstream: never, ...WRONG })],
  ['guardTransport', () => guardTransport({ send: never }, { ...guarded, ...WRONG })],
  ['stdioGateway', () => stdioGateway({ ...guarded, command: ['/nowhere/at/all'], ...WRONG })],
  ['brokerHandlers', () => brokerHandlers(broker, WRONG as object)],
  ['aiSdkTools', () => aiSdkTools(broker, WRONG as object)],
  ['langchainTools', () => langchainTools(broker, WRONG as object)],
  ['langchainTools', () => langchainMiddleware(broker, WRONG as object)],
  ['openaiAgentsTools', () => openaiAgentsTools(broker, WRONG as object)],
  ['anthropicTools', () => anthropicTools(broker, WRONG as object)],
]

it.each(places)('a misspelt option of %s is refused', async (owner, take) => {
  // In a promise, so that what throws and what rejects are told alike.
  const taken = Promise.resolve().then(take)
  await expect(taken).rejects.toMatchObject({
    code: 'INVALID_INTENT',
    message: expect.stringContaining(`wnidow is not an option of ${owner}`),
    action: expect.stringContaining('use one of '),
  })
})

it('[R4] a misspelt payload leaves nothing behind: the intent can be made again as it was meant', async () => {
  const misspelt = { scope: 'refund', key: 'k1', paylod: { amount: 5 } }
  await expect(ibid.once(misspelt, never)).rejects.toThrow('paylod is not an option of an intent')
  expect(await ibid.get({ scope: 'refund', key: 'k1' })).toBeUndefined()
  expect((await ibid.once({ scope: 'refund', key: 'k1', payload: { amount: 5 } }, () => 1)).replayed).toBe(
    false,
  )
})

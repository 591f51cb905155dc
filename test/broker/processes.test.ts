/**
 * Real processes: 200 callers of one write tool over four of them, on each kind of store; and a process that is killed
 * between the effect and its receipt.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { createBroker, type ToolCall } from '../../src/guards/broker/index.js'
import { createIbid } from '../../src/index.js'
import { openStore } from '../../src/stores/open.js'
import { hammer, type Ledger, ledger } from '../../src/testing/index.js'
import { startChild } from '../../src/testing/process/start.js'
import { ARGS, CONTEXT, errorCode, refundTool } from './bench.js'

const WORKER = new URL('../fixtures/broker-worker.mjs', import.meta.url)
let directory: string
let effects: Ledger
let postgres: PostgresServer
let redis: RedisServer

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
})

afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()])
})

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ibid-broker-'))
  effects = ledger(join(directory, 'effects.jsonl'))
})

afterEach(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))

describe('[R60] 200 simultaneous calls of one write tool over four processes', () => {
  const urls: Readonly<Record<string, () => string>> = {
    SQLite: () => `sqlite:${join(directory, 'ibid.db')}`,
    Postgres: () => postgres.url,
    Redis: () => redis.url,
  }

  test.each(Object.entries(urls))(
    'on %s: one effect, and the models of all callers see the same',
    async (_, url) => {
      const calls = ledger(join(directory, 'calls.jsonl'))
      const report = await hammer(
        {
          module: WORKER,
          // The tool answers when all of them have called, and not before.
          argument: { url: url(), ledgerFile: effects.file, callsFile: calls.file, callers: 200 },
          effects: () => effects.all().length,
        },
        { calls: 50, processes: 4 },
      )
      expect(report.verdicts.filter(({ holds }) => !holds)).toEqual([])
      expect(report).toMatchObject({ calls: 200, processes: 4, effects: 1, errors: [] })
      expect(new Set(calls.all().map(({ key }) => key)).size).toBe(200)
      expect(report.values).toMatchObject([{ value: { ok: true, data: { amount: 4_200 } }, times: 200 }])
    },
  )
})

const lease = { timeout: '200ms', lease: '1s', retry: { attempts: 1 } } as const

async function killed(over: object, checked = false): Promise<string> {
  const url = `sqlite:${join(directory, 'ibid.db')}`
  const child = startChild(WORKER)
  await child.call('begin', { url, ledgerFile: effects.file, over, checked, context: CONTEXT, args: ARGS })
  await child.kill()
  return url
}

/** What four replays of the step are answered in another process; waits until the dead one's lease has lapsed. */
async function replays(url: string, over: object): Promise<unknown[]> {
  const ibid = createIbid({ store: openStore(url), housekeeping: false })
  const tool = refundTool({ wait: '60s', ...lease, ...over, execute: again })
  const broker = createBroker({ ibid, tools: [tool] })
  const answers: unknown[] = []
  for (let n = 0; n < 4; n++) {
    const observation = await broker.call('issue_refund', ARGS, CONTEXT)
    answers.push(observation.ok ? observation.data : errorCode(observation))
  }
  await ibid.close()
  return answers
}

function again(args: unknown, call: ToolCall): object {
  effects.append(call.key, args)
  return { id: 'a second refund' }
}

const fourTimes = (answer: unknown): unknown[] => [answer, answer, answer, answer]

describe('[R61] a process killed between the effect and its receipt', () => {
  test('[R7][R34] with a status check: four replays get what was done, and it is done once', async () => {
    const over = { ...lease, downstream: { settles: '200ms' } }
    const url = await killed(over, true)
    const check = ({ key }: ToolCall): object =>
      effects.count(key) > 0 ? { found: true, value: { id: 're_found' } } : { found: false }
    expect(await replays(url, { ...over, check })).toEqual(fourTimes({ id: 're_found' }))
    expect(effects.all()).toHaveLength(1)
  })

  test('[R7][R34] with neither check nor key: a person, four times, and no second effect', async () => {
    const url = await killed(lease)
    expect(await replays(url, {})).toEqual(fourTimes('NEEDS_HUMAN'))
    expect(effects.all()).toHaveLength(1)
  })

  test('[R7][R20] with a downstream that takes the key: repeated under the same key', async () => {
    const over = { downstream: { acceptsKey: true, window: '30d' } }
    const url = await killed({ ...lease, ...over })
    expect(await replays(url, over)).toEqual(fourTimes({ id: 'a second refund' }))
    expect(new Set(effects.all().map(({ key }) => key)).size).toBe(1)
    expect(effects.all()).toHaveLength(2)
  })
})

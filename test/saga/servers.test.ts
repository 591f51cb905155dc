/**
 * The rollback that is killed, on stores that are servers: at every point at which something has been written down or
 * done, which is where a crash differs from the one before it.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import type { Rollback } from '../../src/guards/saga/index.js'
import { ledger, tally } from '../../src/testing/index.js'
import { type Child, startChild } from '../../src/testing/process/start.js'

type Passed = Rollback & { readonly points: readonly string[] }

const SCRIPT = new URL('../fixtures/saga-worker.mjs', import.meta.url)
const FIVE = ['s5', 's4', 's3', 's2', 's1']
const UNDONE = FIVE.map((step) => `undo ${step}`)
const LANES = 2

let folder: string
let postgres: PostgresServer
let redis: RedisServer
let rescuers: readonly Child[]

beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  folder = await mkdtemp(join(tmpdir(), 'ibid-saga-'))
  rescuers = Array.from({ length: LANES }, () => startChild(SCRIPT))
})

afterAll(async () => {
  await Promise.all((rescuers ?? []).map((child) => child.end()))
  await Promise.all([postgres?.stop(), redis?.stop()])
  await rm(folder, { recursive: true, force: true })
})

const urls: Readonly<Record<string, () => string>> = { Postgres: () => postgres.url, Redis: () => redis.url }

/** Where a crash leaves other traces than at the point before: the very beginning, and behind every write. */
const leavesTraces = (point: string, at: number): boolean =>
  at === 0 || /^after (claim|settle|undo)/.test(point)

function undoneIn(directory: string): string[] {
  const lines = ledger(join(directory, 'effects.jsonl')).all()
  return lines.map(({ key }) => key).filter((key) => key.startsWith('undo '))
}

async function killed(order: object, killAt: string): Promise<boolean> {
  const victim = startChild(SCRIPT)
  await victim.call('compensate', { ...order, killAt }).catch(() => undefined)
  await victim.end()
  const isKilled = (await victim.ended) === 'SIGKILL'
  if (isKilled) tally({ kills: 1 })
  return isKilled
}

describe.each(Object.entries(urls))('[R39] on %s, a rollback of five steps', (store, url) => {
  /** A saga of its own, with all its steps done. */
  async function done(workflowId: string, by: Child) {
    const directory = join(folder, `${store} ${workflowId}`)
    await mkdir(directory)
    const order = { directory, url: url(), workflowId }
    await by.call('forward', order)
    return order
  }

  test('that is killed at every point and retried undoes each step exactly once, last one first', async () => {
    const [first] = rescuers as readonly [Child]
    const dry = await first.call<Passed>('compensate', await done('dry', first))
    const points = dry.points.filter(leavesTraces)
    for (const step of FIVE) {
      const traces = [`claim saga:${step}:undo`, `undo ${step}`, `settle saga:${step}:undo`]
      expect(points).toEqual(expect.arrayContaining(traces.map((trace) => `after ${trace}`)))
    }
    const wrong: string[] = []
    const todo = points.entries()
    await Promise.all(
      rescuers.map(async (rescuer) => {
        for (const [n, killAt] of todo) {
          const order = await done(`wf${n}`, rescuer)
          if (!(await killed(order, killAt))) wrong.push(`${killAt}: it was not reached`)
          const reports = await rescuer.call<Passed[]>('recover', order)
          const undone = undoneIn(order.directory)
          if (undone.join() !== UNDONE.join()) wrong.push(`${killAt}: ${undone.join()}`)
          if (!reports.every(({ complete }) => complete)) wrong.push(`${killAt}: ${JSON.stringify(reports)}`)
        }
      }),
    )
    expect(wrong).toEqual([])
    expect(points.length).toBeGreaterThan(15)
  }, 180_000)
})

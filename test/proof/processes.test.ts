/**
 * Real processes on one SQLite file, with the effects in a ledger beside it. The crash at every point is in
 * test/testing/crash-matrix.test.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AuditEvent, Policy, ReceiptDetail } from '../../src/index.js'
import { type Ledger, ledger } from '../../src/testing/index.js'
import { type Child, startChild } from '../../src/testing/process/start.js'

interface Told {
  readonly key: string
  readonly value?: unknown
  readonly replayed?: boolean
  readonly attempt?: number
  readonly code?: string
}

const SCRIPT = new URL('../fixtures/engine-worker.mjs', import.meta.url)
let directory: string
let children: Child[]
let effects: Ledger

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ibid-engine-'))
  children = []
  effects = ledger(join(directory, 'effects.jsonl'))
})

afterEach(async () => {
  for (const { pid } of children) wake(pid)
  await Promise.all(children.map((child) => child.end()))
  await rm(directory, { recursive: true, force: true })
})

/** A process that a test stopped cannot end. */
function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It is gone already.
  }
}

async function start(count: number): Promise<Child[]> {
  const started = Array.from({ length: count }, () => startChild(SCRIPT))
  children.push(...started)
  await Promise.all(started.map((child) => child.call('open', { directory })))
  return started
}

async function storm(workers: readonly Child[], order: object): Promise<Told[]> {
  return (await Promise.all(workers.map((child) => child.call<Told[]>('storm', order)))).flat()
}

const keysOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `key-${n}`)

test('[R60] eight processes, 400 callers, one key: one effect, and every caller has the same value', async () => {
  const told = await storm(await start(8), { calls: 50, keys: ['one'], effectMs: 20 })
  expect(told).toHaveLength(400)
  expect(effects.count('one')).toBe(1)
  const [first] = effects.all()
  expect(told.map(({ value }) => value)).toEqual(told.map(() => first?.data))
  expect(told.filter(({ replayed }) => replayed === false)).toHaveLength(1)
})

test('[R60] eight processes, 400 callers, 50 keys mixed: one effect each, the same value for each', async () => {
  const keys = keysOf(50)
  const told = await storm(await start(8), { calls: 50, keys })
  expect(told).toHaveLength(400)
  expect(
    effects
      .all()
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual(keys.toSorted())
  const values = new Map(effects.all().map(({ key, data }) => [key, data]))
  expect(told.map(({ value }) => value)).toEqual(told.map(({ key }) => values.get(key)))
})

test('[R60, R61] a retry storm: every caller again and again, at once, still one effect each', async () => {
  const workers = await start(4)
  const keys = keysOf(10)
  const rounds = await Promise.all(
    Array.from({ length: 5 }, () => storm(workers, { calls: 40, keys, effectMs: 5 })),
  )
  expect(rounds.flat()).toHaveLength(800)
  expect(rounds.flat().every(({ code }) => code === undefined)).toBe(true)
  expect(effects.all()).toHaveLength(10)
})

test('[R8, R61] a worker stopped past its lease and taken over changes nothing: LEASE_LOST', async () => {
  const [zombie, other] = (await start(2)) as [Child, Child]
  const policy: Policy = { lease: 400, recovery: 'retry' }
  const begun = await zombie.call<{ attempt: number; epoch: number }>('begin', { key: 'z', policy })
  expect(begun.attempt).toBe(1)
  process.kill(zombie.pid, 'SIGSTOP')
  await sleep(500)
  const [taken] = await other.call<Told[]>('storm', { calls: 1, keys: ['z'], policy })
  expect(taken).toMatchObject({ replayed: false, attempt: 2, value: { by: other.pid, attempt: 2 } })
  const before = await other.call<ReceiptDetail>('get', { key: 'z' })
  process.kill(zombie.pid, 'SIGCONT')
  expect(await zombie.call('end', { value: 'from the grave' })).toEqual({ code: 'LEASE_LOST' })
  const after = await other.call<ReceiptDetail>('get', { key: 'z' })
  expect(after).toEqual(before)
  expect(after).toMatchObject({ state: 'succeeded', attempt: 2, value: taken?.value })
  expect(after.epoch).toBeGreaterThan(begun.epoch)
  const again = await storm([zombie, other], { calls: 5, keys: ['z'], policy })
  expect(again.map(({ value }) => value)).toEqual(again.map(() => taken?.value))
  const names = (await zombie.call<AuditEvent[]>('history', { key: 'z' })).map(({ event }) => event)
  expect(names.filter((name) => name !== 'renewed').slice(0, 3)).toEqual(['claimed', 'takeover', 'settled'])
})

test('[R7, R8] a worker stopped past its lease under hold: held for everybody, and run once', async () => {
  const [zombie, other] = (await start(2)) as [Child, Child]
  const policy: Policy = { lease: 300, recovery: 'hold' }
  await zombie.call('begin', { key: 'h', policy })
  process.kill(zombie.pid, 'SIGSTOP')
  await sleep(400)
  const told = await other.call<Told[]>('storm', { calls: 5, keys: ['h'], policy })
  expect(told.map(({ code }) => code)).toEqual(told.map(() => 'OUTCOME_UNKNOWN'))
  process.kill(zombie.pid, 'SIGCONT')
  expect(await zombie.call('end', { value: 'late' })).toEqual({ code: 'LEASE_LOST' })
  expect(await other.call('get', { key: 'h' })).toMatchObject({ state: 'unknown' })
  expect(effects.count('h')).toBe(1)
})

test('[R7, R60, R61] processes killed in the middle of a storm: never two effects, and every key ends', async () => {
  const workers = await start(6)
  const keys = keysOf(30)
  const policy: Policy = { lease: 500, wait: '5s', recovery: 'hold' }
  const victims = workers.slice(0, 3)
  const running = workers.map((child) =>
    storm([child], { calls: 30, keys, policy, effectMs: 60 }).catch((): Told[] => []),
  )
  await sleep(80)
  await Promise.all(victims.map((child) => child.kill()))
  await Promise.all(running)
  await sleep(600)
  const survivor = workers[5] as Child
  await survivor.call('sweep', {})
  const told = await storm([survivor], { calls: 30, keys, policy })
  const counts = keys.map((key) => effects.count(key))
  expect(counts.filter((count) => count > 1)).toEqual([])
  const states = await Promise.all(keys.map((key) => survivor.call<ReceiptDetail>('get', { key })))
  expect(states.every(({ state }) => state === 'succeeded' || state === 'unknown')).toBe(true)
  expect(told.every(({ code, value }) => code === 'OUTCOME_UNKNOWN' || value !== undefined)).toBe(true)
})

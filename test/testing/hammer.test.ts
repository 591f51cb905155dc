/** Hammer: it passes a guarded handler, in one process and over many, and fails one that looks before it writes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { hammer, type HammerReport, ledger } from '../../src/testing/index.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ibid-hammer-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))

function broken({ verdicts }: HammerReport): readonly string[] {
  return verdicts.filter(({ holds }) => !holds).map(({ property }) => property)
}

it('[R60] finds one effect and one value behind many calls at once in one process', async () => {
  const ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false })
  let effects = 0
  const effect = async (): Promise<{ effect: number }> => {
    await sleep(20)
    return { effect: ++effects }
  }
  const call = async (): Promise<unknown> => (await ibid.once({ scope: 's', key: 'k' }, effect)).value
  const report = await hammer({ call, effects: () => effects }, { calls: 500 })
  expect(report).toMatchObject({ ok: true, calls: 500, effects: 1, errors: [] })
  expect(report.values).toEqual([{ value: { effect: 1 }, times: 500 }])
  await ibid.close()
})

it('[R60] finds one effect and one value behind many calls over processes', async () => {
  const effects = ledger(join(directory, 'effects.jsonl'))
  const report = await hammer(
    {
      module: new URL('../fixtures/hammer-ibid.mjs', import.meta.url),
      argument: { file: join(directory, 'ibid.db'), ledgerFile: effects.file },
      effects: () => effects.count('one'),
    },
    { calls: 50, processes: 8 },
  )
  expect(report).toMatchObject({ ok: true, calls: 400, processes: 8, effects: 1, errors: [] })
  expect(report.values).toHaveLength(1)
})

it('catches a handler that looks first and writes after', async () => {
  const effects = ledger(join(directory, 'effects.jsonl'))
  const report = await hammer(
    {
      module: new URL('../fixtures/hammer-naive.mjs', import.meta.url),
      argument: { ledgerFile: effects.file },
      effects: () => effects.count('one'),
    },
    { calls: 10, processes: 2 },
  )
  expect(report.ok).toBe(false)
  expect(broken(report)).toEqual(['one effect', 'same value'])
  expect(report.effects).toBeGreaterThan(1)
})

it('counts callers who got an error, and tries again what may be tried again', async () => {
  let calls = 0
  async function call(n: number): Promise<string> {
    calls++
    if (n === 0) throw Object.assign(new TypeError('broken'), { code: 'BROKEN' })
    if (calls <= 4) throw Object.assign(new TypeError('busy'), { retriable: true, retryAfterMs: 1 })
    return 'done'
  }
  const report = await hammer({ call }, { calls: 5 })
  expect(broken(report)).toEqual(['all answered'])
  expect(report).toMatchObject({ effects: undefined, retries: 3, values: [{ value: 'done', times: 4 }] })
  expect(report.errors).toEqual([{ code: 'BROKEN', message: 'broken', times: 1 }])
})

it('refuses to say that all is well where no call would be made', async () => {
  const module = new URL('../fixtures/hammer-naive.mjs', import.meta.url)
  const nothing = { code: 'INVALID_INTENT', message: expect.stringContaining('nothing to hammer') as string }
  await expect(hammer({})).rejects.toMatchObject(nothing)
  await expect(hammer({ call: () => 1 }, { calls: 0 })).rejects.toMatchObject(nothing)
  await expect(hammer({ module }, { processes: 0 })).rejects.toMatchObject(nothing)
})

it('says what a process said that could not be started', async () => {
  const module = join(directory, 'missing.mjs')
  await expect(hammer({ module }, { processes: 1 })).rejects.toMatchObject({ code: 'CHILD_PROCESS_FAILED' })
})

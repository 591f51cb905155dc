/** Rollbacks that are killed with SIGKILL at every point, on SQLite, with the effects in a ledger beside it. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Rollback } from '../../src/guards/saga/index.js'
import { type Child, startChild } from '../../src/testing/process/start.js'
import { ledger, tally } from '../../src/testing/index.js'

interface Order {
  readonly directory: string
  readonly killAt?: string
  readonly count?: number
  readonly hasChecks?: boolean
}

type Passed = Rollback & { readonly points: readonly string[] }

const SCRIPT = new URL('../fixtures/saga-worker.mjs', import.meta.url)
const FIVE = ['s5', 's4', 's3', 's2', 's1']
let folder: string
let rescuers: Child[]
let cells = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-saga-'))
  rescuers = [startChild(SCRIPT), startChild(SCRIPT)]
})

afterAll(async () => {
  await Promise.all(rescuers.map((child) => child.end()))
  await rm(folder, { recursive: true, force: true })
})

const rescuer = (): Child => rescuers[cells % rescuers.length] as Child

/** A saga whose steps have all been done, to be rolled back in a folder of its own. */
async function copyOf(template: string): Promise<string> {
  const directory = join(folder, `cell${++cells}`)
  await cp(template, directory, { recursive: true })
  return directory
}

async function done(count: number): Promise<string> {
  const directory = await mkdtemp(join(folder, 'done'))
  await rescuer().call('forward', { directory, count })
  return directory
}

/** Runs `verb` in a process of its own, which dies at the point it was told. */
async function killedIn(verb: 'forward' | 'compensate', order: Order): Promise<boolean> {
  const victim = startChild(SCRIPT)
  await victim.call(verb, order).catch(() => undefined)
  await victim.end()
  const isKilled = (await victim.ended) === 'SIGKILL'
  if (isKilled) tally({ kills: 1 })
  return isKilled
}

/** Two lanes: each cell waits for the lease of a dead process. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const next = all.values()
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      for (const one of next) await work(one)
    }),
  )
}

function keysOf(directory: string, half: 'do' | 'undo'): string[] {
  return ledger(join(directory, 'effects.jsonl'))
    .all()
    .map(({ key }) => key)
    .filter((key) => key.startsWith(`${half} `))
}

/** Nothing happens between the end of a read and the next point. */
const changesSomething = (point: string): boolean => !/^after (get|scan)/.test(point)

const lastFirst = (report: Rollback): string[] => report.undone.map(({ step }) => step)

describe('[R39] a rollback of five steps', () => {
  test('that is killed at every point and retried undoes each step exactly once, last one first', async () => {
    const template = await done(5)
    const dry = await rescuer().call<Passed>('compensate', { directory: await copyOf(template) })
    const points = dry.points.filter(changesSomething)
    expect(lastFirst(dry)).toEqual(FIVE)
    for (const step of FIVE) {
      for (const what of [`claim saga:${step}:undo`, `undo ${step}`, `settle saga:${step}:undo`]) {
        expect(points).toEqual(expect.arrayContaining([`before ${what}`, `after ${what}`]))
      }
    }
    const wrong: string[] = []
    await each(points, async (killAt) => {
      const directory = await copyOf(template)
      if (!(await killedIn('compensate', { directory, killAt }))) wrong.push(`${killAt}: it was not reached`)
      const reports = await rescuer().call<Passed[]>('recover', { directory })
      const undone = keysOf(directory, 'undo')
      if (undone.join() !== FIVE.map((step) => `undo ${step}`).join())
        wrong.push(`${killAt}: ${undone.join()}`)
      if (!reports.every(({ complete }) => complete)) wrong.push(`${killAt}: ${JSON.stringify(reports)}`)
    })
    expect(wrong).toEqual([])
    expect(points.length).toBeGreaterThan(50)
  }, 180_000)

  test('that is killed again and again still undoes each step exactly once', async () => {
    const directory = await copyOf(await done(5))
    for (const step of FIVE) {
      expect(await killedIn('compensate', { directory, killAt: `after undo ${step}` })).toBe(true)
      expect(await killedIn('compensate', { directory, killAt: `before settle saga:${step}:undo` })).toBe(
        true,
      )
    }
    const [report] = await rescuer().call<Passed[]>('recover', { directory })
    expect(report).toMatchObject({ complete: true, stuck: [], skipped: [] })
    expect(keysOf(directory, 'undo')).toEqual(FIVE.map((step) => `undo ${step}`))
  })

  test('by several processes at once undoes each step exactly once, last one first', async () => {
    const directory = await copyOf(await done(5))
    const children = Array.from({ length: 4 }, () => startChild(SCRIPT))
    const reports = await Promise.all(
      children.map(async (child) => await child.call<Passed>('compensate', { directory })),
    )
    await Promise.all(children.map((child) => child.end()))
    for (const report of reports) expect(report).toMatchObject({ complete: true, stuck: [] })
    expect(keysOf(directory, 'undo')).toEqual(FIVE.map((step) => `undo ${step}`))
    const fresh = reports.flatMap(({ undone }) => undone.filter(({ replayed }) => !replayed))
    expect(fresh.map(({ step }) => step).toSorted()).toEqual(FIVE.toSorted())
  })

  test('without a way to ask what was undone undoes at most once, and lists the rest for a person', async () => {
    const directory = await copyOf(await done(5))
    const order = { directory, hasChecks: false }
    expect(await killedIn('compensate', { ...order, killAt: 'after undo s3' })).toBe(true)
    const [report] = await rescuer().call<Passed[]>('recover', order)
    expect(keysOf(directory, 'undo')).toEqual(FIVE.map((step) => `undo ${step}`))
    expect(report).toMatchObject({
      complete: false,
      stuck: [
        {
          step: 's3',
          code: 'OUTCOME_UNKNOWN',
          retriable: false,
          input: { n: 2 },
          result: { made: 2 },
          forward: { state: 'succeeded' },
          undo: { scope: 'saga:s3:undo', state: 'unknown' },
        },
      ],
    })
  })
})

describe('[R39] a saga', () => {
  test('that is killed at every point of its way forward leaves nothing behind once it is rolled back', async () => {
    const measured = await mkdtemp(join(folder, 'measured'))
    const points = await rescuer().call<string[]>('forward', { directory: measured, count: 2 })
    expect(points.indexOf('after settle plan step:s1')).toBeLessThan(points.indexOf('before do s1'))
    const wrong: string[] = []
    await each(points.filter(changesSomething), async (killAt) => {
      const directory = join(folder, `cell${++cells}`)
      await cp(await mkdtemp(join(folder, 'empty')), directory, { recursive: true })
      if (!(await killedIn('forward', { directory, killAt, count: 2 })))
        wrong.push(`${killAt}: it was not reached`)
      const reports = await rescuer().call<Passed[]>('recover', { directory, count: 2 })
      const [did, undid] = [keysOf(directory, 'do'), keysOf(directory, 'undo')]
      const expected = did.map((key) => key.replace('do', 'undo')).toReversed()
      if (undid.join() !== expected.join()) wrong.push(`${killAt}: did ${did.join()}, undid ${undid.join()}`)
      if (!reports.every(({ complete }) => complete)) wrong.push(`${killAt}: ${JSON.stringify(reports)}`)
    })
    expect(wrong).toEqual([])
  }, 180_000)
})

/**
 * Harbor Payments end to end: the storm of one seed against real processes and a real store. What is asserted is
 * counted here once more, from the files of the ledger API and the mail sink; no store is asked about effects.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startPostgres } from '../../scripts/servers/postgres.mjs'
import { startRedis } from '../../scripts/servers/redis.mjs'
import { ALL } from '../../src/cli/demo/layers.js'
import { isClean } from '../../src/cli/demo/outcome.js'
import { type Ran, runStorm } from '../../src/cli/demo/run-storm.js'
import { makeStorm } from '../../src/cli/demo/storm.js'
import { openStore } from '../../src/stores/open.js'
import { ibid } from '../cli/command.js'

const REFUNDS = 30
const LONG = { timeout: 240_000 }

interface Printed {
  readonly store: string
  readonly folder: string
  readonly ok: boolean
  readonly seeds: readonly { readonly seed: number; readonly outcomes: readonly Ran[] }[]
}

type AtEnd = (clean: () => unknown) => void

/** Tests that run side by side have to say whose folder it is. */
function folder(atEnd: AtEnd): string {
  const path = mkdtempSync(join(tmpdir(), 'ibid-harbor-'))
  atEnd(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** How often each charge stands in an append-only file. */
function timesIn(file: string): readonly number[] {
  const times = new Map<string, number>()
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { key } = JSON.parse(line) as { readonly key: string }
    times.set(key, (times.get(key) ?? 0) + 1)
  }
  return [...times.values()]
}

const twice = (times: readonly number[]): number => times.filter((count) => count > 1).length

test.concurrent(
  '[R5][R41][R42][R43][R45][R60] one storm: a third and more refunded twice without guards, none with all layers',
  LONG,
  async ({ onTestFinished }) => {
    const home = folder(onTestFinished)
    const ran = await ibid(['demo', '--seed', '1', '--without', 'tool', '--json'], { env: { TMPDIR: home } })
    expect(ran.stderr).toBe('')
    const printed = ran.json<Printed>()
    const [seed] = printed.seeds
    const [open, ingress, all, untooled] = seed?.outcomes as [Ran, Ran, Ran, Ran]
    expect([open.arm, ingress.arm, all.arm, untooled.arm]).toEqual([
      'no guards',
      'ingress only',
      'all layers',
      'without tool',
    ])

    const files = (arm: string, name: string): readonly number[] =>
      timesIn(join(printed.folder, 'seed-1', arm, name))
    for (const { arm, duplicateRefunds, duplicateMails, refunds } of seed?.outcomes ?? []) {
      const name = arm.replaceAll(' ', '-')
      expect(twice(files(name, 'refunds.jsonl'))).toBe(duplicateRefunds)
      expect(twice(files(name, 'mails.jsonl'))).toBe(duplicateMails)
      expect(refunds).toBe(REFUNDS)
    }
    expect(twice(files('no-guards', 'refunds.jsonl'))).toBeGreaterThan(REFUNDS / 3)
    expect(files('all-layers', 'refunds.jsonl')).toEqual(Array.from({ length: REFUNDS }, () => 1))
    expect(twice(files('all-layers', 'mails.jsonl'))).toBe(0)
    expect(files('all-layers', 'mails.jsonl').length + all.held).toBe(REFUNDS)
    expect(all.kills).toBeGreaterThan(0)
    expect([printed.ok, ran.code]).toEqual([true, 0])

    // The control: one guard removed, and the same storm shows it.
    expect(untooled.duplicateRefunds).toBeGreaterThan(0)

    // What nobody can look up waits for a person, and the person is told.
    expect(all.held).toBeGreaterThan(0)
    const held = await ibid(['held', '--store', printed.store, '--tenant', all.tenant, '--json'])
    const { held: listed } = held.json<{ held: readonly { readonly scope: string }[] }>()
    expect(listed.map(({ scope }) => scope)).toContain('tool:issue_refund')
  },
)

async function throughAll(seed: number, store: string, home: string): Promise<Ran> {
  const opened = openStore(store)
  await opened.check()
  await opened.close()
  const storm = makeStorm(seed, REFUNDS)
  return await runStorm({ storm, arm: ALL, store, folder: home, onProgress: () => undefined })
}

describe.concurrent('all layers: nothing twice, nothing lost', () => {
  test.for([2, 3])('[R60][R61] on SQLite, seed %i', LONG, async (seed, { onTestFinished }) => {
    const home = folder(onTestFinished)
    const outcome = await throughAll(seed, `sqlite:${join(home, 'ibid.db')}`, home)
    expect(outcome, JSON.stringify(outcome)).toSatisfy(isClean)
    expect(outcome.kills).toBeGreaterThan(0)
  })

  test('[R60][R61] on Postgres, seed 4', LONG, async ({ onTestFinished }) => {
    const server = await startPostgres()
    onTestFinished(async () => await server.stop())
    const outcome = await throughAll(4, server.url, folder(onTestFinished))
    expect(outcome, JSON.stringify(outcome)).toSatisfy(isClean)
    expect(outcome.kills).toBeGreaterThan(0)
  })

  test('[R60][R61] on Redis, seed 5', LONG, async ({ onTestFinished }) => {
    const server = await startRedis()
    onTestFinished(async () => await server.stop())
    const outcome = await throughAll(5, server.url, folder(onTestFinished))
    expect(outcome, JSON.stringify(outcome)).toSatisfy(isClean)
    expect(outcome.kills).toBeGreaterThan(0)
  })
})

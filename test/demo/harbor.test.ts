/**
 * Harbor Payments end to end: the storm of one seed against real processes and a real store. What is asserted is
 * counted here once more, from the files of the ledger API and the mail sink; no store is asked about effects.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Ran } from '../../src/cli/demo/run-storm.js'
import { folder, ibid } from '../cli/command.js'

const REFUNDS = 30
const LONG = { timeout: 240_000 }

interface Printed {
  readonly store: string
  readonly folder: string
  readonly ok: boolean
  readonly seeds: readonly { readonly seed: number; readonly outcomes: readonly Ran[] }[]
}

/** How often each charge stands in an append-only file. */
function timesIn(file: string): readonly number[] {
  const times = new Map<string, number>()
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { charge } = JSON.parse(line) as { readonly charge: string }
    times.set(charge, (times.get(charge) ?? 0) + 1)
  }
  return [...times.values()]
}

const twice = (times: readonly number[]): number => times.filter((count) => count > 1).length

test(
  '[R5][R41][R42][R43][R45][R60] one storm: a third and more refunded twice without guards, none with all layers',
  LONG,
  async () => {
    const home = folder()
    const ran = await ibid(['demo', '--seed', '1', '--without', 'tool', '--json'], { env: { TMPDIR: home } })
    expect(ran.stderr).toBe('')
    const printed = ran.json<Printed>()
    const outcomes = printed.seeds.flatMap((seed) => seed.outcomes)
    const [open, ingress, all, untooled] = outcomes as [Ran, Ran, Ran, Ran]
    expect([open.arm, ingress.arm, all.arm, untooled.arm]).toEqual([
      'no guards',
      'ingress only',
      'all layers',
      'without tool',
    ])

    const files = (arm: string, name: string): readonly number[] =>
      timesIn(join(printed.folder, 'seed-1', arm, name))
    for (const { arm, duplicateRefunds, duplicateMails, refunds } of outcomes) {
      const name = arm.replaceAll(' ', '-')
      expect(twice(files(name, 'refunds.jsonl'))).toBe(duplicateRefunds)
      expect(twice(files(name, 'mails.jsonl'))).toBe(duplicateMails)
      expect(refunds).toBe(REFUNDS)
    }
    expect(twice(files('no-guards', 'refunds.jsonl'))).toBeGreaterThan(REFUNDS / 3)
    // Each once; what is missing is held, and nothing else is.
    for (const name of ['refunds.jsonl', 'mails.jsonl']) {
      const times = files('all-layers', name)
      expect([name, ...new Set(times)]).toEqual([name, 1])
      expect(times.length + all.held).toBeGreaterThanOrEqual(REFUNDS)
    }
    expect([all.lostRefunds, all.lostMails]).toEqual([0, 0])
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

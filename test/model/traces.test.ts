/**
 * What the model does, the engine does: random runs of the model, replayed step by step. IBID_TRACES asks for more of
 * them, from IBID_TRACES_FROM on.
 */
import { expect, test } from 'vitest'
import { type Trace, traces } from '../../scripts/model/traces.mjs'
import { PLANTED } from '../../src/testing/planted-stores.js'
import { type Mismatch, replay } from './replay.js'
import { report } from './report.js'

const COUNT = Number(process.env['IBID_TRACES'] ?? 96)
const FROM = Number(process.env['IBID_TRACES_FROM'] ?? 1)
const kept: Trace[] = []

test('[R61] traces of the model are what the engine does', { timeout: 3_600_000 }, async () => {
  const mismatches: Mismatch[] = []
  const kinds = new Set<string>()
  let steps = 0
  for await (const trace of traces(Array.from({ length: COUNT }, (_, at) => FROM + at))) {
    expect(trace.violated).toBeUndefined()
    expect(trace.steps.at(-1)?.what).toBe('END')
    if (kept.length < 96) kept.push(trace)
    steps += trace.steps.length
    for (const { what, how } of trace.steps) kinds.add(`${what} ${how}`)
    const mismatch = await replay(trace)
    if (mismatch) mismatches.push(mismatch)
  }
  const shown = mismatches
    .slice(0, 20)
    .map(({ seed, at, step, why }) => `seed ${seed}, step ${at}, ${step}: ${why}`)
  report({ traces: COUNT, from: FROM, steps, kinds: kinds.size, mismatches: mismatches.length, shown })
  expect(mismatches.slice(0, 3)).toEqual([])
  // A replay of next to nothing would prove next to nothing.
  expect(kinds.size).toBeGreaterThan(30)
})

test.each(Object.entries(PLANTED))(
  'a store at fault is found: %s',
  { timeout: 120_000 },
  async (name, plant) => {
    let found: Mismatch | undefined
    for (const trace of kept) found ??= await replay(trace, plant)
    report({ planted: name, caught: found !== undefined })
    expect(found).toBeDefined()
  },
)

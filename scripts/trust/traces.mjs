/** Random runs of the protocol model, replayed step by step on the engine; after each step the receipt is compared. */
import { ensureSpin } from '../model/spin.mjs'
import { runTests } from './work.mjs'

/** About ten minutes of an idle machine. */
const TRACES = Number(process.env.IBID_TRUST_TRACES ?? 10_000)
const isControl = (name) => name.includes('a store at fault is found')

export const traces = {
  id: 'traces',
  property: 'The engine does what the protocol model does',
  async run({ quick, progress }) {
    await ensureSpin()
    const count = quick ? 96 : TRACES
    const env = { IBID_TRACES: String(count) }
    const { passed, failed, figures } = await runTests(['test/model/traces.test.ts'], {
      env,
      onLine: progress,
    })
    const replayed = figures.find((line) => 'traces' in line)
    if (!replayed) return { error: `nothing was replayed: ${failed.join(', ')}` }
    const caught = passed.filter(isControl).length
    // Also red: a replay of too few kinds of steps, and an error outside of any test.
    const red = failed.filter((name) => !isControl(name))
    return {
      ran: { traces: replayed.traces, steps: replayed.steps, 'kinds of steps': replayed.kinds },
      tried: replayed.steps,
      violations: Math.max(replayed.mismatches, red.length),
      seeds: `${replayed.from} to ${replayed.from + replayed.traces - 1}`,
      control: { planted: caught + failed.filter(isControl).length, caught },
      details: [...replayed.shown, ...red],
    }
  },
}

/** Random runs of the protocol model, replayed step by step on the engine; after each step the receipt is compared. */
import { ensureSpin } from '../model/spin.mjs'
import { runTests } from './work.mjs'

/** About ten minutes of an idle machine. */
const TRACES = Number(process.env.IBID_TRUST_TRACES ?? 10_000)
const CONTROL = 'a store at fault is found'

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
    const caught = passed.filter((name) => name.includes(CONTROL)).length
    return {
      ran: { traces: replayed.traces, steps: replayed.steps, 'kinds of steps': replayed.kinds },
      tried: replayed.steps,
      violations: replayed.mismatches,
      details: replayed.shown,
      seeds: `${replayed.from} to ${replayed.from + replayed.traces - 1}`,
      control: { planted: caught + failed.filter((name) => name.includes(CONTROL)).length, caught },
    }
  },
}

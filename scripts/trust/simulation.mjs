/** Whole worlds of processes on a virtual clock, seed after seed: the real engine, simulated stores and faults. */
import { isThere, runJson } from './work.mjs'

const SCRIPT = 'scripts/simulate.mjs'

export const simulation = {
  id: 'simulation',
  property: 'Simulated operations keep every promise',
  async run({ quick, progress }) {
    if (!isThere(SCRIPT)) return { notRun: `${SCRIPT} is not there` }
    const operations = quick ? 100_000 : 10_000_000
    const { ran, violations, seeds, control } = await runJson(
      [SCRIPT, '--json', '--operations', String(operations)],
      { onLine: progress },
    )
    const { operations: done, faults, seeds: worlds } = ran
    return {
      ran: { operations: done, faults, seeds: worlds },
      tried: done,
      violations,
      seeds: `from ${seeds.first}`,
      control,
      details: seeds.failing.map((seed) => `violated by seed ${seed}: node ${SCRIPT} --replay ${seed}`),
    }
  },
}

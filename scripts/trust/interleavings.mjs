/** Every interleaving of two workers on one key, with crashes, lost answers and time passing at every point. */
import { runTests } from './work.mjs'

const isControl = (name) => name.includes('the proof finds what it has to')

export const interleavings = {
  id: 'interleavings',
  property: 'Every interleaving of two workers keeps the promises',
  async run({ progress }) {
    const { passed, failed, tally } = await runTests(['test/proof/interleavings.test.ts'], {
      onLine: progress,
    })
    const caught = passed.filter(isControl).length
    return {
      ran: { interleavings: tally.interleavings ?? 0 },
      tried: tally.interleavings ?? 0,
      exhaustive: true,
      violations: failed.filter((name) => !isControl(name)).length,
      control: { planted: caught + failed.filter(isControl).length, caught },
      details: failed,
    }
  },
}

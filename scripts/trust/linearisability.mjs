/** Recorded histories of concurrent callers, held against the model of a receipt by a checker of its own. */
import { isThere, runJson } from './work.mjs'

const SCRIPT = 'scripts/linearise.mjs'

export const linearisability = {
  id: 'linearisability',
  property: 'Recorded histories are linearisable',
  async run({ quick, progress }) {
    if (!isThere(SCRIPT)) return { notRun: `${SCRIPT} is not there` }
    const args = quick ? [SCRIPT, '--json', '--quick'] : [SCRIPT, '--json']
    const { ran, violations, seeds, control } = await runJson(args, { onLine: progress })
    const tried = Math.max(...Object.values(ran).filter((count) => typeof count === 'number'))
    return {
      ran,
      tried,
      violations,
      seeds: seeds?.first === undefined ? undefined : `from ${seeds.first}`,
      control,
    }
  },
}

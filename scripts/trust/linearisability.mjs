/** Recorded histories of processes that share a store, held against the model of a receipt by a checker of its own. */
import { isThere, runNode } from './work.mjs'

const SCRIPT = 'scripts/linearizability.mjs'

export const linearisability = {
  id: 'linearisability',
  property: 'Recorded histories are linearisable',
  async run({ quick, progress }) {
    if (!isThere(SCRIPT)) return { notRun: `${SCRIPT} is not there` }
    const few = quick ? ['--stores', 'sqlite', '--rounds', '4'] : []
    const { stdout, stderr } = await runNode([SCRIPT, '--json', ...few], { onLine: progress })
    const stores = stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    if (stores.length === 0) return { error: `no history was judged: ${stderr.trim().slice(-300)}` }
    const sum = (pick) => stores.reduce((total, one) => total + pick(one), 0)
    return {
      ran: {
        histories: sum(({ ran }) => ran.histories),
        operations: sum(({ ran }) => ran.operations),
        stores: stores.length,
      },
      tried: sum(({ ran }) => ran.histories),
      violations: sum(({ violations }) => violations),
      seeds: stores[0].seeds.join(', '),
      control: {
        planted: sum(({ control }) => control.planted),
        caught: sum(({ control }) => control.caught),
      },
    }
  },
}

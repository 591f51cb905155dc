/** Recorded histories of processes that share a store, held against the model of a receipt by a checker of its own. */
import { isThere, runNode } from './work.mjs'

const SCRIPT = 'scripts/linearizability.mjs'

export const linearisability = {
  id: 'linearisability',
  property: 'Recorded histories are linearisable',
  async run({ quick, progress }) {
    if (!isThere(SCRIPT)) return { notRun: `${SCRIPT} is not there` }
    const names = quick ? ['sqlite'] : ['sqlite', 'postgres', 'redis']
    const few = quick ? ['--rounds', '4'] : []
    const args = [SCRIPT, '--json', '--stores', names.join(','), ...few]
    const { stdout, stderr } = await runNode(args, { onLine: progress })
    const stores = stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    const missing = names.filter((name) => !stores.some(({ ran }) => ran.store === name))
    if (missing.length > 0)
      return { error: `no history of ${missing.join(', ')} was judged: ${stderr.trim().slice(-300)}` }
    const mute = stores.find(({ ran }) => ran.unanswered > ran.operations / 100)
    if (mute) return { error: `${mute.ran.store} left ${mute.ran.unanswered} operations without an answer` }
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

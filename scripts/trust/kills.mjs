/**
 * Servers killed with SIGKILL under load: what they had acknowledged is there afterwards, and no effect happens twice.
 * Each run of a test file kills its server 20 times over at least 2,100 acknowledged calls; the control is a server
 * that is set up to lose.
 */
import { runTests } from './work.mjs'

const STORES = ['postgres', 'redis']
const ACKNOWLEDGED = 2_100
const CONTROL = 'the books notice'

export const kills = {
  id: 'kills',
  property: 'A killed server loses nothing that it acknowledged',
  async run({ quick, progress }) {
    const rounds = quick ? 1 : 5
    const sum = { kills: 0, runs: 0, violations: 0, caught: 0 }
    const details = []
    for (const store of STORES) {
      let killed = 0
      let lost = 0
      for (let round = 1; round <= rounds; round++) {
        progress(`${store}, round ${round} of ${rounds}`)
        const { passed, failed, tally } = await runTests([`test/${store}/kills.test.ts`])
        const isControl = (name) => name.includes(CONTROL)
        killed += tally.kills ?? 0
        lost += failed.filter((name) => !isControl(name)).length
        sum.caught += passed.filter(isControl).length
        sum.runs++
      }
      sum.kills += killed
      sum.violations += lost
      details.push(
        `${store}: ${killed} kills in ${rounds} runs (the control's among them), ${lost} runs with a loss`,
      )
    }
    const acknowledged = ACKNOWLEDGED * sum.runs
    return {
      ran: { 'server kills': sum.kills, 'acknowledged calls at least': acknowledged },
      tried: acknowledged,
      violations: sum.violations,
      // One in each run, whether or not it was heard of.
      control: { planted: sum.runs, caught: sum.caught },
      details,
    }
  },
}

/** Runs of a few steps each through `ibid/run`, on a store that the caller has opened: steps per second. */
import { createIbid } from 'ibid'
import { createRuns } from 'ibid/run'
import { newKey, payloadOf, perSecond, resultOf, TENANT, warmUp } from './workload.mjs'

export async function runSteps(store, { count, steps, callers, warmUpMs }) {
  const ibid = createIbid({ store, tenant: TENANT, housekeeping: false })
  const runs = createRuns({ ibid })
  const one = async () => {
    const key = newKey()
    await runs.start({ agent: 'refund', key, trigger: payloadOf(key) }, async (run) => {
      for (let n = 0; n < steps; n++) await run.step('refund', () => resultOf(key))
      return key
    })
  }
  await warmUp(warmUpMs, callers, one)
  const rate = await perSecond(count, callers, one)
  await runs.close()
  await ibid.close()
  return rate * steps
}

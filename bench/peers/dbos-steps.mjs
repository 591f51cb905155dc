/** DBOS on Postgres: durable workflows of a few steps each, steps per second. */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { newKey, payloadOf, perSecond, resultOf } from '../workload.mjs'

export async function dbosSteps({ url, count, steps, callers }) {
  DBOS.setConfig({ name: 'bench-steps', systemDatabaseUrl: url, logLevel: 'error' })
  const refund = DBOS.registerWorkflow(
    async (payload) => {
      for (let n = 0; n < steps; n++)
        await DBOS.runStep(async () => resultOf(payload.payment), { name: 'refund' })
      return payload.payment
    },
    { name: 'refund' },
  )
  await DBOS.launch()
  const one = async () => {
    const key = newKey()
    const handle = await DBOS.startWorkflow(refund, { workflowID: key })(payloadOf(key))
    return handle.getResult()
  }
  await perSecond(40, callers, one)
  const rate = await perSecond(count, callers, one)
  await DBOS.shutdown()
  return rate * steps
}

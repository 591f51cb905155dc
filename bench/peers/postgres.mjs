/** DBOS on Postgres: a durable workflow with one step, which is what stands for claim, effect and settlement there. */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { newKey, payloadOf, perSecond, resultOf } from '../workload.mjs'

export async function dbos({ url, count, callers }) {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' })
  const refund = DBOS.registerWorkflow(
    async (payload) => DBOS.runStep(async () => resultOf(payload.payment), { name: 'refund' }),
    { name: 'refund' },
  )
  await DBOS.launch()
  const one = async () => {
    const key = newKey()
    const handle = await DBOS.startWorkflow(refund, { workflowID: key })(payloadOf(key))
    return handle.getResult()
  }
  await perSecond(200, callers, one)
  const rate = await perSecond(count, callers, one)
  await DBOS.shutdown()
  return rate
}

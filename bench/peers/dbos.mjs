/** DBOS on Postgres: durable workflows of so many steps each, workflows per second. */
import { DBOS } from '@dbos-inc/dbos-sdk'
import { newKey, payloadOf, perSecond, resultOf, warmUp } from '../workload.mjs'

async function workflows({ url, count, steps, callers, warmUpMs }) {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' })
  const refund = DBOS.registerWorkflow(
    async (payload) => {
      let result
      for (let n = 0; n < steps; n++)
        result = await DBOS.runStep(async () => resultOf(payload.payment), { name: 'refund' })
      return result
    },
    { name: 'refund' },
  )
  await DBOS.launch()
  const one = async () => {
    const key = newKey()
    const handle = await DBOS.startWorkflow(refund, { workflowID: key })(payloadOf(key))
    return handle.getResult()
  }
  await warmUp(warmUpMs, callers, one)
  const rate = await perSecond(count, callers, one)
  await DBOS.shutdown()
  return rate
}

/** One step, which is what stands for claim, effect and settlement there. */
export const actions = (settings) => workflows({ ...settings, steps: 1 })

export const steps = async (settings) => (await workflows(settings)) * settings.steps

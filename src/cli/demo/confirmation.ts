/** The confirmation e-mail. As a step its message id is the step's key, by which the sink can be asked afterwards. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CheckResult } from '../../core/policy.js'
import type { Run } from '../../guards/run/index.js'
import { type Done, type EffectClient, REQUEST_TIMEOUT_MS } from './effect-client.js'
import { MOST_ATTEMPTS } from './leases.js'
import type { Order } from './storm.js'
import { insist } from './unguarded.js'

type Steps = Pick<Run, 'step'>

export async function mailAsStep(mail: EffectClient, order: Order, run: Steps): Promise<void> {
  await run.step('confirm', async ({ key, signal }) => await mail.post(mailOf(order, key), signal), {
    maxAttempts: MOST_ATTEMPTS,
    recovery: { check: async ({ key }) => await findLate(mail, order, key) },
  })
}

export async function mailUnguarded(mail: EffectClient, order: Order): Promise<void> {
  await insist(async (reference) => await mail.post(mailOf(order, reference)))
}

/** What was sent may still be on its way: "not found" is believed at the second time of asking. */
async function findLate(
  mail: EffectClient,
  { charge }: Order,
  reference: string,
): Promise<CheckResult<Done>> {
  const first = await mail.find(charge, reference)
  if (first.found !== false) return first
  await sleep(REQUEST_TIMEOUT_MS)
  return await mail.find(charge, reference)
}

function mailOf({ charge, customer }: Order, reference: string) {
  return { charge, reference, to: customer, subject: `Your refund of ${charge}` }
}

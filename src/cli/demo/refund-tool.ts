/**
 * The refund tool and its contract. The ledger takes no key and makes every refund that it is asked for, so that the
 * contract stands on a status check by the call's key; what the check cannot tell waits for a person. The reason is
 * the model's free text and does not count.
 */
import { defineTool, type StandardSchema, type Tool } from '../../guards/broker/index.js'
import { type EffectClient, REQUEST_TIMEOUT_MS } from './effect-client.js'
import { LEASE_MS } from './leases.js'

export interface RefundArguments {
  readonly charge: string
  readonly amountCents: number
  readonly reason: string
}

export const REFUND = 'issue_refund'
export const REFUND_RIGHT = 'refunds:write'

export function refundTool(ledger: EffectClient): Tool<RefundArguments> {
  return defineTool({
    name: REFUND,
    version: '1.0.0',
    effect: 'write-non-idempotent',
    description: 'Refunds a charge of a customer.',
    input: SCHEMA,
    inputJsonSchema: JSON_SCHEMA,
    identity: { ignore: ['reason'] },
    scope: REFUND_RIGHT,
    window: '7d',
    timeout: REQUEST_TIMEOUT_MS,
    lease: LEASE_MS,
    retry: { attempts: 3, backoff: 50, maxBackoff: 200 },
    downstream: { acceptsKey: false, settles: '1s' },
    execute: async (args: RefundArguments, { key, signal }) =>
      await ledger.post({ ...args, reference: key }, signal),
    check: async ({ key, args }) => await ledger.find(args.charge, key),
  })
}

/** By hand, so that the demo needs no package beside ibid. */
const SCHEMA: StandardSchema<RefundArguments> = {
  '~standard': {
    version: 1,
    vendor: 'harbor',
    validate(value) {
      const { charge, amountCents, reason = '' } = (value ?? {}) as Record<keyof RefundArguments, unknown>
      if (typeof charge !== 'string') return { issues: [{ message: 'is not a text', path: ['charge'] }] }
      if (typeof reason !== 'string') return { issues: [{ message: 'is not a text', path: ['reason'] }] }
      if (!Number.isSafeInteger(amountCents) || Number(amountCents) < 1)
        return { issues: [{ message: 'is not a number of cents', path: ['amountCents'] }] }
      return { value: { charge, amountCents: Number(amountCents), reason } }
    },
  },
}

const JSON_SCHEMA = {
  type: 'object',
  properties: {
    charge: { type: 'string' },
    amountCents: { type: 'integer', minimum: 1 },
    reason: { type: 'string' },
  },
  required: ['charge', 'amountCents'],
  additionalProperties: false,
} as const

/**
 * Claim, renew, settle, release, hold: what a client in any language does around an effect of its own. The
 * token that the claim answers with is the only thing that lets anybody go on with it.
 */
import { IbidError, Rejected } from '../../core/errors.js'
import { toTagged } from '../../core/tagged.js'
import type { ClaimPolicy, Intent } from '../../ibid.js'
import type { Settlement } from '../../ibid.js'
import { oneOrMany } from '../batch.js'
import { type Fields, objectOf, textIfGiven, textOf } from '../fields.js'
import { operation } from '../operation.js'
import type { Answer, ApiRequest, Route } from '../route.js'
import { tenantOf } from '../tenant-of.js'
import { capped, waiting } from '../waiting.js'

const ADDRESS = ['tenant', 'scope', 'key']
const POLICY = ['token', 'lease', 'window', 'wait', 'recovery', 'maxAttempts'] as const
const INTENT = [...ADDRESS, 'payload', 'identity', ...POLICY]

export const CLAIM_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/claims',
    right: 'write',
    about: operation({
      id: 'claim',
      summary: 'Claim the right to do something once, or get what came of it',
      body: { one: 'Intent', many: ['claims', 'Intent'] },
      answers: { 200: ['Replayed', 'Refused', 'ClaimResults'], 201: 'Claimed' },
      problems: [409, 422],
    }),
    handle: async (request) => await oneOrMany(request, 'claims', async (item) => await claim(request, item)),
  },
  ownerRoute(
    'renew',
    'Keep a claim for another lease',
    'Owned',
    ['token'],
    async ({ at }, owned) => await at.ibid.renew(owned),
  ),
  ownerRoute(
    'settle',
    'Say how it ended: succeeded with a value, or failed for good',
    'Settlement',
    ['token', 'as', 'value', 'error'],
    async ({ at }, owned, item) => await at.ibid.settle(owned, settlementOf(item)),
  ),
  ownerRoute(
    'release',
    'It certainly did not happen: give the key back',
    'Given',
    ['token', 'why'],
    async ({ at }, owned, item) =>
      await at.ibid.settle(owned, { as: 'released', why: textIfGiven(item, 'why') }),
  ),
  ownerRoute(
    'hold',
    'It may or may not have happened: hold it for a person',
    'Given',
    ['token', 'why'],
    async ({ at }, owned, item) =>
      await at.ibid.settle(owned, { as: 'unknown', why: textIfGiven(item, 'why') }),
  ),
]

async function claim(request: ApiRequest, item: Fields): Promise<Answer> {
  const { at, principal } = request
  objectOf(item, 'the claim', INTENT)
  const tenant = tenantOf(principal, textIfGiven(item, 'tenant'))
  const intent: Intent = {
    tenant,
    scope: textOf(item, 'scope'),
    key: textOf(item, 'key'),
    payload: item['payload'],
    by: `key ${principal.keyId}`,
    ...(item['identity'] === undefined
      ? {}
      : { identity: item['identity'] as NonNullable<Intent['identity']> }),
  }
  const told = at.limits.reserve(tenant)
  let isWritten = false
  try {
    const policy = policyOf(item, at.settings.maxWait)
    const claimed = await waiting(at, policy.wait, async () => await at.ibid.claim(intent, policy))
    if (!claimed.claimed) return succeeded(claimed.value, claimed.receipt, true)
    isWritten = true
    const { token, resumed, receipt } = claimed
    const checkFirst = receipt.recovery === 'check' && receipt.attempt > 1
    return { status: 201, body: { outcome: 'claimed', token, resumed, checkFirst, receipt } }
  } catch (error) {
    return ended(error)
  } finally {
    told(isWritten)
  }
}

/** A refusal that is replayed is an answer, and so is a success whose value was too long to keep. */
function ended(error: unknown): Answer {
  if (error instanceof Rejected && error.replayed && error.receipt) {
    const { code, message, action, data, receipt } = error
    const shown = { code, message, action, ...(data === undefined ? {} : { data: toTagged(data) }) }
    return { status: 200, body: { outcome: 'failed', error: shown, receipt } }
  }
  if (error instanceof IbidError && error.code === 'VALUE_NOT_RETAINED')
    return succeeded(undefined, error.receipt, false)
  throw error
}

function succeeded(value: unknown, receipt: unknown, retained: boolean): Answer {
  const shown = value === undefined ? {} : { value: toTagged(value) }
  return { status: 200, body: { outcome: 'succeeded', ...shown, retained, receipt } }
}

function policyOf(item: Fields, maxWaitMs: number): ClaimPolicy {
  const given = POLICY.filter((name) => item[name] !== undefined).map((name) => [name, item[name]])
  const policy = Object.fromEntries(given) as ClaimPolicy
  return policy.wait === undefined ? policy : { ...policy, wait: capped(policy.wait, maxWaitMs, 'wait') }
}

function settlementOf(item: Fields): Settlement {
  const as = textIfGiven(item, 'as') ?? 'succeeded'
  if (as === 'failed') {
    const { code, message, action, data } = objectOf(item['error'], 'error', [
      'code',
      'message',
      'action',
      'data',
    ])
    const facts = Object.fromEntries(
      Object.entries({ code, action, data }).filter(([, value]) => value !== undefined),
    )
    for (const name of ['code', 'action']) textIfGiven(facts, name)
    return { as, error: new Rejected(textOf({ message }, 'message'), facts) }
  }
  return { as: as as 'succeeded', value: item['value'] }
}

type Owned = { readonly tenant: string; readonly scope: string; readonly key: string; readonly token: string }

function ownerRoute(
  verb: string,
  summary: string,
  schema: string,
  known: readonly string[],
  change: (request: ApiRequest, owned: Owned, item: Fields) => Promise<unknown>,
): Route {
  return {
    method: 'POST',
    path: `/v1/claims/${verb}`,
    right: 'write',
    about: operation({
      id: verb,
      summary,
      body: { one: schema, many: ['claims', schema] },
      answers: { 200: ['Changed', 'ChangeResults'] },
      problems: [404, 409],
    }),
    handle: async (request) =>
      await oneOrMany(request, 'claims', async (item) => {
        objectOf(item, 'the claim', [...ADDRESS, ...known])
        const owned = {
          tenant: tenantOf(request.principal, textIfGiven(item, 'tenant')),
          scope: textOf(item, 'scope'),
          key: textOf(item, 'key'),
          token: textOf(item, 'token'),
        }
        return { status: 200, body: { receipt: await change(request, owned, item) } }
      }),
  }
}

/** What waits for a person: the held receipts, and what somebody says happened to them. Who and why go on record. */
import { invalidIntent, Rejected } from '../../core/errors.js'
import type { Resolution } from '../../ibid.js'
import type { Principal } from '../api-keys.js'
import { oneOrMany } from '../batch.js'
import { type Fields, objectOf, textIfGiven, textOf } from '../fields.js'
import { operation } from '../operation.js'
import type { Answer, ApiRequest, Route } from '../route.js'
import { tenantOf } from '../tenant-of.js'
import { search } from './receipts.js'

const RESOLUTION = ['tenant', 'scope', 'key', 'as', 'value', 'error', 'by', 'why', 'epoch']

export const HELD_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/held',
    right: 'read',
    about: operation({
      id: 'held',
      summary: 'Receipts whose outcome is unknown, waiting for somebody to resolve them',
      query: {
        tenant: 'only with a key for every tenant',
        scope: 'the operation',
        key: 'the key',
        limit: '1 to 1000; default 100',
        cursor: 'from the page before',
      },
      answers: { 200: 'Page' },
    }),
    handle: async (request) => ({ status: 200, body: await search(request, ['unknown']) }),
  },
  {
    method: 'POST',
    path: '/v1/resolutions',
    right: 'resolve',
    about: operation({
      id: 'resolve',
      summary: 'Say what happened to held receipts',
      body: { one: 'Resolution', many: ['resolutions', 'Resolution'] },
      answers: { 200: ['Changed', 'ChangeResults'] },
      problems: [409],
    }),
    handle: async (request) =>
      await oneOrMany(request, 'resolutions', async (item) => await resolve(request, item)),
  },
]

async function resolve({ at, principal }: ApiRequest, item: Fields): Promise<Answer> {
  objectOf(item, 'the resolution', RESOLUTION)
  const where = {
    tenant: tenantOf(principal, textIfGiven(item, 'tenant')),
    scope: textOf(item, 'scope'),
    key: textOf(item, 'key'),
  }
  const resolver = {
    by: signed(textOf(item, 'by'), principal),
    why: textOf(item, 'why'),
    epoch: epochOf(item),
  }
  const receipt = await at.ibid.resolve(where, resolutionOf(item), resolver)
  return { status: 200, body: { receipt } }
}

/** Whoever has the key may give any name: the record says whose key it was. A blank one is left for refusal. */
function signed(by: string, { keyId }: Principal): string {
  return by.trim() === '' ? by : `${by} (key ${keyId})`
}

function epochOf({ epoch }: Fields): number | undefined {
  if (epoch === undefined || Number.isSafeInteger(epoch)) return epoch as number | undefined
  throw invalidIntent('epoch is no whole number', 'give epoch as it stands in the receipt, or leave it out')
}

function resolutionOf(item: Fields): Resolution {
  const as = textOf(item, 'as')
  if (as === 'failed') {
    const error = objectOf(item['error'], 'error', ['code', 'message', 'action', 'data'])
    const { data } = error
    const facts = { code: textIfGiven(error, 'code'), action: textIfGiven(error, 'action'), data }
    const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
    return { as, error: new Rejected(textOf(error, 'message'), given) }
  }
  return as === 'succeeded' ? { as, value: item['value'] } : { as: as as 'released' }
}

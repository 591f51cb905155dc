/**
 * The first start on a fresh store makes one key, and shows how it is used. Made once, however many servers start
 * together: with ibid. The key is shown this one time; what is stored is its hash.
 */
import { randomBytes } from 'node:crypto'
import type { Ibid } from '../ibid.js'
import { createKey, EVERY_TENANT, OWN_TENANT } from './api-keys.js'

/** For whoever sits at this machine: every tenant, every right. */
const LOCAL = {
  tenant: EVERY_TENANT,
  rights: ['read', 'write', 'resolve', 'admin'],
  note: 'made at the first start',
}

/** Undefined: this store has had its first start. */
export async function firstKey(ibid: Ibid): Promise<string | undefined> {
  let made: string | undefined
  await ibid.once(
    { tenant: OWN_TENANT, scope: 'first-start', key: 'local-key' },
    async () => {
      const { key, id } = await createKey(ibid, LOCAL)
      made = key
      return { id }
    },
    // A crash before this is settled leaves at most a key that nobody was shown.
    { window: '36500d', recovery: 'retry', lease: '5s' },
  )
  return made
}

/** Three lines that work as pasted: claim, settle, and claim again, which gives the first result. */
export function firstSteps(url: string, key: string): readonly string[] {
  const token = randomBytes(16).toString('hex')
  const claim = { tenant: 'local', scope: 'refund', key: `order-${randomBytes(3).toString('hex')}` }
  const payload = { amount: 4200, currency: 'EUR' }
  const post = (path: string, body: object): string =>
    `curl -s ${url}${path} -H 'authorization: Bearer ${key}' -d '${JSON.stringify(body)}'`
  return [
    post('/v1/claims', { ...claim, payload, token }),
    post('/v1/claims/settle', { ...claim, token, value: { refund: 're_1' } }),
    post('/v1/claims', { ...claim, payload }),
  ]
}

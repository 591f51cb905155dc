/**
 * The status resource: what became of a key, for whoever lost the answer. It shows the state and the status of the
 * response, to the tenant that the key belongs to; the response itself comes to whoever sends the request again.
 */
import { IbidError, invalidIntent } from '../../core/errors.js'
import type { ReceiptView } from '../../core/receipt.js'
import type { Ibid, ReceiptDetail } from '../../ibid.js'
import type { Answer } from './exchange.js'
import { LAYER } from './intent.js'
import { isKept } from './kept.js'

export function statusUrl(path: string, { scope, key }: ReceiptView): string {
  return `${path}?scope=${encodeURIComponent(scope)}&key=${encodeURIComponent(key)}`
}

export async function showStatus(ibid: Ibid, query: string, tenant: string | undefined): Promise<Answer> {
  const asked = new URLSearchParams(query)
  const scope = asked.get('scope') ?? ''
  const key = asked.get('key') ?? ''
  if (!scope.startsWith(LAYER) || key === '') {
    throw invalidIntent('the status of what?', 'ask with ?scope=…&key=…, as the link in the answer gave them')
  }
  const found = await ibid.get({ tenant, scope, key })
  if (!found) {
    throw new IbidError('there is no receipt for this key: it was never used here, or its window is over', {
      code: 'NO_RECEIPT',
      retriable: false,
      action: 'send the request with this key to have it carried out',
    })
  }
  const headers = ['content-type', 'application/json', 'cache-control', 'no-store']
  if (found.state === 'pending') headers.push('retry-after', '1')
  return { status: 200, headers, body: JSON.stringify(shown(found)) }
}

function shown(found: ReceiptDetail): unknown {
  const { scope, key, state, attempt, createdAt, at, until, value, error } = found
  const kept = isKept(value) ? value : undefined
  return {
    scope,
    key,
    state,
    attempt,
    createdAt,
    at,
    until,
    ...(kept ? { response: { status: kept.status, retained: kept.body !== undefined } } : {}),
    ...(error ? { error: { code: error.code, message: error.message, action: error.action } } : {}),
  }
}

/** Whose key it is, and what operation it belongs to. */
import { hash } from 'node:crypto'
import { IbidError } from '../../core/errors.js'
import type { Exchange } from './exchange.js'
import type { Settings } from './options.js'

/** In front of every scope, so that no receipt of another layer can be met, or looked up, from here. */
export const LAYER = 'http:'
const LONGEST_SCOPE = 255

/** Undefined where the program has a single tenant, named in createIbid. */
export function tenantOf<R>(
  request: R,
  { tenant }: Pick<Settings<R>, 'tenant'>,
): string | undefined | Promise<string> {
  if (typeof tenant !== 'function') return tenant
  const found = tenant(request)
  return found instanceof Promise ? found.then(named) : named(found)
}

/** Null is what a header that is not there comes to, in programs that no compiler has read. */
function named(tenant: string | null | undefined): string {
  if (tenant !== undefined && tenant !== null && tenant !== '') return tenant
  throw new IbidError('this request belongs to no tenant; nothing was executed', {
    code: 'FORBIDDEN_SCOPE',
    retriable: false,
    action: 'authenticate, so that it is known whose idempotency key this is',
  })
}

export function scopeOf<R>(exchange: Exchange<R>, { scope }: Pick<Settings<R>, 'scope'>): string {
  const own = typeof scope === 'function' ? scope(exchange.request) : scope
  if (own !== undefined) return own.startsWith(LAYER) ? own : LAYER + own
  const whole = `${LAYER}${exchange.method} ${exchange.route ?? exchange.path}`
  if (whole.length <= LONGEST_SCOPE) return whole
  return `${LAYER}${exchange.method} sha256:${hash('sha256', whole, 'base64url')}`
}

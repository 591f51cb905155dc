/**
 * Whose receipts a request is about. A key of one tenant cannot name another; a key of every tenant has to name
 * one.
 */
import { EVERY_TENANT, type Principal, RESERVED } from './api-keys.js'
import { refusal } from './problem.js'
import { invalidIntent } from '../core/errors.js'

export function tenantOf(principal: Principal, named: string | undefined): string {
  const tenant = tenantIfAny(principal, named)
  if (tenant !== undefined) return tenant
  throw invalidIntent('tenant is missing', 'this key is for every tenant: name the one that is meant')
}

/** Undefined: of every tenant. */
export function tenantIfAny(principal: Principal, named: string | undefined): string | undefined {
  if (principal.tenant !== EVERY_TENANT) {
    if (named === undefined || named === principal.tenant) return principal.tenant
    throw forbidden('this key is for another tenant')
  }
  if (named?.startsWith(RESERVED)) throw forbidden('this tenant is the server’s own')
  return named
}

/** Whose rate a request counts against: a key for every tenant has a limit of its own. */
export function whoseLimit({ tenant, keyId }: Principal): string {
  return tenant === EVERY_TENANT ? keyId : tenant
}

export function forbidden(why: string): Error {
  return refusal('FORBIDDEN', `${why}; nothing was executed`, 'use a key that has the tenant and the right')
}

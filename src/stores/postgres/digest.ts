/**
 * Where an address is looked up: a SHA-256, cut to a uuid. The first quarter is the tenant's alone, so that the
 * receipts of a tenant stand together. Nobody can send an address that shares one with another tenant's; should two of
 * one tenant do, the rows are told apart by the address itself, and the second is refused.
 */
import { hash } from 'node:crypto'
import { IbidError } from '../../core/errors.js'
import { type Address, addressId } from '../../core/receipt.js'
import { remember } from '../../core/remember.js'

const TENANTS = { most: 1_024, longest: 256 }
/** Of 32 digits. */
const OF_TENANT = 8

const prefixOf = remember(TENANTS, (tenant) => hash('sha256', tenant, 'hex').slice(0, OF_TENANT)) as (
  tenant: string,
) => string

export function digestOf(address: Address): string {
  return prefixOf(address.tenant) + hash('sha256', addressId(address), 'hex').slice(OF_TENANT, 32)
}

/** A part of it that is not the tenant's, as a number: what the audit log finds rows of several events by. */
export function markOf(digest: string): number {
  return Number.parseInt(digest.slice(OF_TENANT, OF_TENANT + 8), 16) | 0
}

/** The first and the last digest that a receipt of this tenant can have. */
export function digestsOf(tenant: string): readonly [first: string, last: string] {
  const prefix = prefixOf(tenant)
  return [prefix.padEnd(32, '0'), prefix.padEnd(32, 'f')]
}

export function mustBe(found: Address, wanted: Address): void {
  if (found.key === wanted.key && found.scope === wanted.scope && found.tenant === wanted.tenant) return
  throw new IbidError(
    'two addresses have the same digest, and only the first can be kept; nothing was executed',
    {
      code: 'STORE_UNAVAILABLE',
      retriable: false,
      action: 'use another key for this action, and report it: this is not expected to happen',
    },
  )
}

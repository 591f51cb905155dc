/**
 * Receipts as items. The partition key leads with the tenant and ends with a digest of the whole address: names
 * may be longer than a key can be, and no two addresses share a digest. What is null is absent.
 *
 * Sizes: an item may have 409 600 bytes. A character of an outcome takes up to three, the names of an address up to
 * 765 each, twice for the tenant, and again inside the claimed event; texts of an event are cut. So an outcome of
 * `MAX_OUTCOME` characters always fits, whatever it is made of, and a settling never fails for its size.
 */
import { createHash } from 'node:crypto'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Address, addressId, type Receipt, type Recovery, type State } from '../../core/receipt.js'
import type { Item } from './errors.js'
import { SHARDS } from './schema.js'

export const MAX_OUTCOME = 120_000

export const RECEIPT = 'receipt'

/** Where an address is: its partition, and its share of the indexes. */
export interface Home {
  readonly pk: string
  readonly shard: number
}

export function homeOf(address: Address): Home {
  const digest = createHash('sha256').update(addressId(address)).digest()
  return { pk: `${address.tenant}#${digest.toString('base64url')}`, shard: (digest[0] as number) % SHARDS }
}

export function receiptKey(pk: string): Item {
  return { pk: { S: pk }, sk: { S: RECEIPT } }
}

/** The families of the state index. Settled and released receipts are found there by the end of their window. */
export type Family = 'pending' | 'unknown' | 'ended'

export function stateKey(family: Family, shard: number): string {
  return `${family}#${shard}`
}

/**
 * Deletion by the server's time to live is a net under the purge, for tables that nobody purges any more: a day
 * after the window, so that the purge, which writes its event, comes first.
 */
const TTL_GRACE_MS = 86_400_000

/** Every attribute that a change of the receipt writes; `absent` are the ones that it takes away. */
export interface Attributes {
  readonly present: Item
  readonly absent: readonly string[]
}

export function attributesOf(receipt: Receipt, shard: number): Attributes {
  const { state, outcome, until, createdAt } = receipt
  const open = state === 'pending' || state === 'unknown'
  const family: Family = open ? state : 'ended'
  const since = open ? createdAt : until
  const optional: Record<string, AttributeValue | undefined> = {
    outcome: outcome === null ? undefined : { S: outcome },
    until: until === null ? undefined : { N: String(until) },
    byState: since === null ? undefined : { S: stateKey(family, shard) },
    since: since === null ? undefined : { N: String(since) },
    ttl: open || until === null ? undefined : { N: String(Math.ceil((until + TTL_GRACE_MS) / 1_000)) },
  }
  const present: Item = {
    tenant: { S: receipt.tenant },
    scope: { S: receipt.scope },
    key: { S: receipt.key },
    fingerprint: { S: receipt.fingerprint },
    state: { S: state },
    token: { S: receipt.token },
    attempt: { N: String(receipt.attempt) },
    maxAttempts: { N: String(receipt.maxAttempts) },
    recovery: { S: receipt.recovery },
    leaseMs: { N: String(receipt.leaseMs) },
    windowMs: { N: String(receipt.windowMs) },
    epoch: { N: String(receipt.epoch) },
    createdAt: { N: String(createdAt) },
    at: { N: String(receipt.at) },
  }
  const absent: string[] = []
  for (const [name, value] of Object.entries(optional)) {
    if (value === undefined) absent.push(name)
    else present[name] = value
  }
  return { present, absent }
}

export function toReceipt(item: Item): Receipt {
  return {
    tenant: text(item, 'tenant'),
    scope: text(item, 'scope'),
    key: text(item, 'key'),
    fingerprint: text(item, 'fingerprint'),
    state: text(item, 'state') as State,
    token: text(item, 'token'),
    attempt: number(item, 'attempt'),
    maxAttempts: number(item, 'maxAttempts'),
    recovery: text(item, 'recovery') as Recovery,
    leaseMs: number(item, 'leaseMs'),
    windowMs: number(item, 'windowMs'),
    outcome: item['outcome']?.S ?? null,
    epoch: number(item, 'epoch'),
    createdAt: number(item, 'createdAt'),
    at: number(item, 'at'),
    until: item['until'] === undefined ? null : number(item, 'until'),
  }
}

export function text(item: Item, name: string): string {
  return item[name]?.S ?? ''
}

function number(item: Item, name: string): number {
  return Number(item[name]?.N)
}

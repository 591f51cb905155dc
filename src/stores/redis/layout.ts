/**
 * Where things are. Receipts are spread over shards by the digest of their address; a shard is a hash tag, so that
 * its receipts, its indexes and its part of the audit log live in one slot and one script can change them together.
 * On a single server one shard is best: a whole batch is one script. In a cluster many, so that all masters work.
 */
import { hash } from 'node:crypto'
import { type Address, addressId } from '../../core/receipt.js'

export interface Shard {
  readonly number: number
  /** What a receipt's key starts with; its digest follows. */
  readonly receipts: string
  /** Stream of audit events, which is also the journal that the indexes are made from. */
  readonly journal: string
  /** The highest epoch of a receipt that was forgotten. */
  readonly floor: string
  /** How far into the journal the indexes are. */
  readonly indexed: string
  /** Sorted set of pending and unknown receipts, by `until`. */
  readonly open: string
  /** Sorted set of settled and released receipts, by `until`. */
  readonly ends: string
  /** Sorted set of all receipts, by the millisecond they came. */
  readonly all: string
}

export interface Layout {
  readonly shards: readonly Shard[]
  readonly channel: string
  shardOf(digest: string): Shard
}

/** What the layout key holds is compared with this: data written one way is never read another way. */
export const FORMAT = 3
export const MOST_SHARDS = 4_096
const DIGEST_LENGTH = 22

export function layoutKey(prefix: string): string {
  return `${prefix}:layout`
}

export function createLayout(prefix: string, count: number): Layout {
  const shards = Array.from({ length: count }, (_, number) => createShard(prefix, number))
  return {
    shards,
    channel: `${prefix}:ended`,
    shardOf: (digest) => shards[count === 1 ? 0 : leadingBits(digest) % count] as Shard,
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The first twelve bits of a digest. */
function leadingBits(digest: string): number {
  return ALPHABET.indexOf(digest.charAt(0)) * 64 + ALPHABET.indexOf(digest.charAt(1))
}

function createShard(prefix: string, number: number): Shard {
  const tag = `{${prefix}:${number}}`
  return {
    number,
    receipts: `${tag}r`,
    journal: `${tag}journal`,
    floor: `${tag}floor`,
    indexed: `${tag}indexed`,
    open: `${tag}open`,
    ends: `${tag}ends`,
    all: `${tag}all`,
  }
}

let last: (Address & { readonly digest: string }) | undefined

/** 128 bits of SHA-256, in 22 letters: short in every index, and no address can be taken for another. */
export function digestOf(address: Address): string {
  const { tenant, scope, key } = address
  // A lone caller settles what it has just claimed.
  if (last?.key !== key || last.scope !== scope || last.tenant !== tenant) {
    const digest = hash('sha256', addressId(address), 'base64url').slice(0, DIGEST_LENGTH)
    last = { tenant, scope, key, digest }
  }
  return last.digest
}

/** The digests that one message on the channel holds, one behind the other. */
export function digestsIn(message: string): readonly string[] {
  const count = Math.floor(message.length / DIGEST_LENGTH)
  return Array.from({ length: count }, (_, i) => message.slice(i * DIGEST_LENGTH, (i + 1) * DIGEST_LENGTH))
}

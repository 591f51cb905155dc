/** A generation: the receipts with consecutive ids whose hashes were written to the file together, in slices. */
import { endianness } from 'node:os'
import type { Row } from './open.js'

/** How many ids it has, unless a test wants fewer. */
export const GENERATION_SIZE = 65_536
/** The first bits of a hash say in which slice of its generation it is. */
export const SLICES = 1_024
/** Hash, hash, id less the generation's `after`: 32 bits each, little-endian in the file. */
export const ENTRY_WORDS = 3

const BIG_ENDIAN = endianness() === 'BE'

export interface Generation {
  /** The id of its last receipt. */
  readonly id: number
  /** Its receipts have ids above this one. */
  readonly after: number
  /** Is one of its receipts still there? Otherwise only the log knows them. */
  readonly live: boolean
}

export function toGeneration([id, after, live]: Row): Generation {
  return { id: id as number, after: after as number, live: live === 1 }
}

export function sliceOf(high: number): number {
  return high >>> 22
}

/** The entries of a slice: three 32-bit numbers each. */
export function toEntries(stored: Uint8Array): Int32Array {
  const bytes = new Uint8Array(stored)
  if (BIG_ENDIAN) Buffer.from(bytes.buffer).swap32()
  return new Int32Array(bytes.buffer)
}

export function toBytes(entries: Int32Array): Uint8Array {
  const bytes = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
  return BIG_ENDIAN ? Buffer.from(bytes).swap32() : bytes
}

/** A generation: the receipts with consecutive ids whose hashes were written to the file together, in slices. */
import type { Row } from './open.js'

/** How many ids it has, unless a test wants fewer. */
export const GENERATION_SIZE = 65_536
/** The first bits of a hash say in which slice of its generation it is. */
export const SLICES = 1_024
/** Hash, hash, id less the generation's `after`: 32 bits each, little-endian. */
export const ENTRY_BYTES = 12

export interface Generation {
  /** The id of its last receipt. */
  readonly id: number
  /** Its receipts have ids above this one. */
  readonly after: number
  /** How many of its receipts are still there. */
  readonly live: number
}

export function toGeneration([id, after, live]: Row): Generation {
  return { id: id as number, after: after as number, live: live as number }
}

export function sliceOf(high: number): number {
  return high >>> 22
}

/** Visits the entries of a slice as it is in the file. */
export function forEachEntry(
  entries: Uint8Array,
  visit: (high: number, low: number, offset: number) => void,
): void {
  const bytes = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
  for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
    visit(bytes.readInt32LE(at), bytes.readInt32LE(at + 4), bytes.readUInt32LE(at + 8))
  }
}

/**
 * Sealing: the hashes of the oldest receipts that have none in the file yet are written there, sorted into slices,
 * in one transaction of a few milliseconds. They are never changed again, and go when their receipts and
 * the log of these are gone.
 */
import type { Catalogue } from './catalogue.js'
import { ENTRY_BYTES, SLICES, sliceOf } from './generation.js'
import type { Statements } from './statements.js'

export function isDue({ lastId, tail }: Catalogue, size: number): boolean {
  return lastId - tail.base >= size
}

/** Inside a transaction, after a refresh. The catalogue learns of it when it reads the file again. */
export function seal(sql: Statements, { tail }: Catalogue, size: number): void {
  const after = tail.base
  const last = after + size
  const counts = new Uint32Array(SLICES)
  tail.forEach((high, _low, id) => {
    if (id <= last) counts[sliceOf(high)]!++
  })
  const slices = Array.from(counts, (count) => Buffer.allocUnsafe(count * ENTRY_BYTES))
  tail.forEach((high, low, id) => {
    if (id > last) return
    const slice = sliceOf(high)
    const at = --counts[slice]! * ENTRY_BYTES
    const bytes = slices[slice]!
    bytes.writeInt32LE(high, at)
    bytes.writeInt32LE(low, at + 4)
    bytes.writeUInt32LE(id - after, at + 8)
  })
  sql.sealGeneration.get(after, last)
  for (const [slice, bytes] of slices.entries()) {
    if (bytes.length > 0) sql.sealRun.get(last * SLICES + slice, bytes)
  }
  sql.sealMeta.get(last)
}

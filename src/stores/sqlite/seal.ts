/**
 * Sealing: the hashes of the oldest receipts that have none in the file yet are written there, sorted into slices,
 * in one transaction of a few milliseconds. They are never changed again, and go when their receipts and
 * the log of these are gone.
 */
import type { Catalogue } from './catalogue.js'
import { ENTRY_WORDS, SLICES, sliceOf, toBytes } from './generation.js'
import { row } from './open.js'
import type { Statements } from './statements.js'

export function isDue({ lastId, tail }: Catalogue, size: number): boolean {
  return lastId - tail.base >= size
}

/** Inside a transaction, after a refresh. The catalogue learns of it when it reads the file again. */
export function seal(sql: Statements, { tail }: Catalogue, size: number): void {
  const after = tail.base
  const last = after + size
  sql.sealMeta.get(last)
  const live = row(sql.anyReceipt, after, last) !== undefined
  if (!live && row(sql.anyPast, after, last) === undefined) return
  sql.sealGeneration.get(last, after, live ? 1 : 0)
  const ends = new Uint32Array(SLICES)
  tail.forEach((high, _low, id) => {
    if (id <= last) ends[sliceOf(high)]! += ENTRY_WORDS
  })
  for (let slice = 1; slice < SLICES; slice++) ends[slice]! += ends[slice - 1]!
  const entries = new Int32Array(ends[SLICES - 1]!)
  const starts = Uint32Array.from(ends)
  tail.forEach((high, low, id) => {
    if (id > last) return
    const at = (starts[sliceOf(high)]! -= ENTRY_WORDS)
    entries[at] = high
    entries[at + 1] = low
    entries[at + 2] = id - after
  })
  for (let slice = 0; slice < SLICES; slice++) {
    const slicing = entries.subarray(starts[slice], ends[slice])
    if (slicing.length > 0) sql.sealRun.get(last * SLICES + slice, toBytes(slicing))
  }
}

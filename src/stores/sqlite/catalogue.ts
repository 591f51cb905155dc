/**
 * From an address to its row, without an index that a claim would have to write into. The newest ids are in a hash
 * table in memory (tail.ts). Every 65 536 of them are sealed: their hashes are written once, in slices, and a filter in
 * memory (filter.ts) says which generations are worth a look. What is found is only a candidate: whoever reads the
 * row compares the address.
 *
 * Other processes write to the same file. `refresh` has to run inside each transaction, before anything is looked
 * up: it reads what they added, and costs one question where they added nothing.
 */
import { type Address, addressId, type Draft } from '../../core/receipt.js'
import { Filter, type FilterCopy } from './filter.js'
import { ENTRY_WORDS, type Generation, SLICES, sliceOf, toEntries, toGeneration } from './generation.js'
import { Given } from './given.js'
import { Hasher } from './hash.js'
import { asRow, type Row, row } from './open.js'
import { assertReadable } from './schema.js'
import type { Statements } from './statements.js'
import { Tail, type TailCopy } from './tail.js'

/** All that a catalogue knows, for one on another thread: reading it from the file takes long when there is much. */
export interface CatalogueCopy {
  readonly filter: FilterCopy
  readonly tail: TailCopy
  readonly generations: readonly Generation[]
  readonly gone: readonly Generation[]
  readonly committedId: number
  readonly version: number
}

export class Catalogue {
  floorEpoch = 0
  tail = new Tail(0)
  /** The last id that was given out. */
  lastId = 0
  /** Claims of this connection. */
  readonly given = new Given()
  readonly #sql: Statements
  #filter = new Filter()
  #hasher: Hasher | undefined
  #generations = new Map<number, Generation>()
  /** Generations of which nothing but the log is left: no claim has to look at them. */
  #gone: readonly Generation[] = []
  #committedId = 0
  #dataVersion = -1
  #version = -1
  #isQuiet = false
  readonly #ids: number[] = []
  readonly #named: number[] = []

  constructor(sql: Statements, copy?: CatalogueCopy) {
    this.#sql = sql
    if (!copy) return
    this.#filter = new Filter(copy.filter)
    this.tail = new Tail(copy.tail.base, copy.tail)
    this.#generations = new Map(copy.generations.map((one) => [one.id, one]))
    this.#gone = copy.gone
    this.#committedId = copy.committedId
    this.#version = copy.version
  }

  copy(): CatalogueCopy {
    return {
      filter: this.#filter.copy(),
      tail: this.tail.copy(),
      generations: [...this.#generations.values()],
      gone: this.#gone,
      committedId: this.#committedId,
      version: this.#version,
    }
  }

  refresh(): void {
    this.lastId = this.#committedId
    const dataVersion = Number(row(this.#sql.dataVersion)?.[0])
    this.#isQuiet = dataVersion === this.#dataVersion
    if (this.#isQuiet) return
    const [version, key0, key1, catalogue, sealedTo, floorId, floorEpoch] = row(
      this.#sql.meta,
    ) as readonly number[]
    assertReadable(version as number)
    this.#hasher ??= new Hasher(key0 as number, key1 as number)
    if (catalogue !== this.#version) this.#loadGenerations()
    if (this.tail.base !== sealedTo) this.tail = this.tail.from(sealedTo as number)
    const seen = Math.max(this.#committedId, this.tail.base)
    for (const got of this.#sql.tail.iterate(seen)) this.#addRow(asRow(got) as Row)
    const lastId = (row(this.#sql.lastId) as readonly (number | null)[])[0] ?? 0
    this.lastId = Math.max(lastId, sealedTo as number, floorId as number)
    this.floorEpoch = floorEpoch as number
    this.#version = catalogue as number
    this.#dataVersion = dataVersion
    this.#committedId = this.lastId
  }

  /** Was the file read, and nothing undone since? */
  get isRead(): boolean {
    return this.#dataVersion !== -1
  }

  /** Had nobody else written when it was last looked at? */
  get isQuiet(): boolean {
    return this.#isQuiet
  }

  /** After the commit of a transaction that gave out ids. Without it they are given out again. */
  committed(): void {
    this.#committedId = this.lastId
  }

  /** Everything is read anew with the next refresh. */
  forget(): void {
    this.#dataVersion = -1
    this.#isQuiet = false
    this.given.clear()
  }

  /** Ids of receipts that may be the one at this address, newest first. Good until the next call. */
  candidates(address: Address): readonly number[] {
    const ids = this.#ids
    ids.length = 0
    const { high, low } = this.#hash(address)
    this.tail.find(high, low, ids)
    const named = this.#named
    named.length = 0
    this.#filter.find(high, low, named)
    for (let i = 0; i < named.length; i++) {
      this.#search(this.#generations.get(named[i] as number) as Generation, high, low, ids)
    }
    return ids
  }

  /** Also those that only the audit log still knows. */
  candidatesEver(address: Address): readonly number[] {
    this.candidates(address)
    const { high, low } = this.#hash(address)
    for (const generation of this.#gone) this.#search(generation, high, low, this.#ids)
    return [...new Set(this.#ids)]
  }

  /** A new id for a receipt whose address was just looked for. */
  give(draft: Draft): number {
    const { high, low } = this.#hasher as Hasher
    this.tail.add(high, low, ++this.lastId)
    this.given.add(this.lastId, draft)
    return this.lastId
  }

  #hash(address: Address): Hasher {
    const hasher = this.#hasher as Hasher
    hasher.hash(addressId(address))
    return hasher
  }

  #addRow([id, tenant, scope, key]: Row): void {
    const { high, low } = this.#hash({ tenant, scope, key } as unknown as Address)
    this.tail.add(high, low, id as number)
  }

  #search({ id, after }: Generation, high: number, low: number, into: number[]): void {
    const stored = row(this.#sql.run, id * SLICES + sliceOf(high))?.[0] as Uint8Array | undefined
    if (stored === undefined) return
    const entries = toEntries(stored)
    for (let at = 0; at < entries.length; at += ENTRY_WORDS) {
      if (entries[at] === high && entries[at + 1] === low) into.push(after + (entries[at + 2] as number))
    }
  }

  #loadGenerations(): void {
    const found = this.#sql.generations.all().map((got) => toGeneration(asRow(got) as Row))
    const alive = new Map(found.filter(({ live }) => live).map((one) => [one.id, one]))
    for (const id of this.#filter.generations()) if (!alive.has(id)) this.#filter.remove(id)
    for (const one of alive.values()) if (!this.#generations.has(one.id)) this.#loadFilter(one)
    this.#generations = alive
    this.#gone = found.filter(({ live }) => !live)
  }

  /** From memory, where the receipts that somebody sealed in the meantime are still in the tail. */
  #loadFilter({ id, after }: Generation): void {
    const slot = this.#filter.open(id)
    if (this.tail.base <= after && id <= this.#committedId) {
      this.tail.forEach((high, low, entry) => {
        if (entry > after && entry <= id) this.#filter.add(slot, high, low)
      })
      return
    }
    for (const got of this.#sql.runs.iterate(id * SLICES, (id + 1) * SLICES)) {
      const entries = toEntries((asRow(got) as Row)[0] as Uint8Array)
      for (let at = 0; at < entries.length; at += ENTRY_WORDS) {
        this.#filter.add(slot, entries[at] as number, entries[at + 1] as number)
      }
    }
  }
}

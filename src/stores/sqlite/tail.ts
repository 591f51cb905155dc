/**
 * Where the newest receipts are: an open hash table in memory from the hash of an address to ids. The receipts in it
 * have no index in the file, so that a claim writes nothing but its row, at the end of the table. Entries of
 * receipts that are gone or were rolled back may stay: whoever reads the row compares the address.
 */

const FIELDS = 3
const FIRST_SLOTS = 4_096

export interface TailCopy {
  readonly base: number
  readonly size: number
  readonly slots: Int32Array<ArrayBuffer>
}

export class Tail {
  /** Ids in here are above it; the ones up to it are in sealed generations. */
  base: number
  size = 0
  #slots = new Int32Array(FIRST_SLOTS * FIELDS)
  #mask = FIRST_SLOTS - 1

  constructor(base: number, copy?: TailCopy) {
    this.base = base
    if (!copy) return
    this.size = copy.size
    this.#slots = copy.slots
    this.#mask = copy.slots.length / FIELDS - 1
  }

  /** For another thread. */
  copy(): TailCopy {
    return { base: this.base, size: this.size, slots: this.#slots }
  }

  add(high: number, low: number, id: number): void {
    if (this.size * 2 > this.#mask) this.#grow()
    this.#put(high, low, id - this.base)
    this.size++
  }

  find(high: number, low: number, into: number[]): void {
    const slots = this.#slots
    for (let slot = low & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * FIELDS
      const offset = slots[at + 2] as number
      if (offset === 0) return
      if (slots[at] === high && slots[at + 1] === low) into.push(this.base + offset)
    }
  }

  forEach(visit: (high: number, low: number, id: number) => void): void {
    const slots = this.#slots
    for (let at = 0; at < slots.length; at += FIELDS) {
      const offset = slots[at + 2] as number
      if (offset !== 0) visit(slots[at] as number, slots[at + 1] as number, this.base + offset)
    }
  }

  /** A tail that starts at `base`, with the entries of this one that are above it. */
  from(base: number): Tail {
    const rest = new Tail(base)
    this.forEach((high, low, id) => {
      if (id > base) rest.add(high, low, id)
    })
    return rest
  }

  #put(high: number, low: number, offset: number): void {
    let slot = low & this.#mask
    while (this.#slots[slot * FIELDS + 2] !== 0) slot = (slot + 1) & this.#mask
    const at = slot * FIELDS
    this.#slots[at] = high
    this.#slots[at + 1] = low
    this.#slots[at + 2] = offset
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Int32Array(old.length * 2)
    this.#mask = this.#mask * 2 + 1
    for (let at = 0; at < old.length; at += FIELDS) {
      const offset = old[at + 2] as number
      if (offset !== 0) this.#put(old[at] as number, old[at + 1] as number, offset)
    }
  }
}

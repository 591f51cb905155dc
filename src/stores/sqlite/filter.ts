/**
 * Which sealed generations may hold a hash: Bloom filters of equal size that lie across each other. One word holds
 * the same bit of 32 generations, so that one look at six words answers for all of them at once. A generation
 * of 65 536 takes 16 bits a receipt and is named in vain for about one hash in a thousand.
 */

const BITS = 20
const PROBES = 6
const WIDTH = 32

export interface FilterCopy {
  readonly groups: readonly Int32Array[]
  readonly generations: readonly (number | undefined)[]
}

export class Filter {
  readonly #groups: Int32Array[] = []
  /** Slot to generation; undefined where a slot is free. */
  readonly #generations: (number | undefined)[] = []

  constructor(copy?: FilterCopy) {
    if (!copy) return
    this.#groups.push(...copy.groups)
    this.#generations.push(...copy.generations)
  }

  /** For another thread. */
  copy(): FilterCopy {
    return { groups: this.#groups, generations: [...this.#generations] }
  }

  /** A slot for the hashes of a generation, to be filled with `add`. */
  open(generation: number): number {
    const free = this.#generations.indexOf(undefined)
    const slot = free === -1 ? this.#generations.length : free
    this.#generations[slot] = generation
    this.#groups[slot >>> 5] ??= new Int32Array(1 << BITS)
    return slot
  }

  add(slot: number, high: number, low: number): void {
    const words = this.#groups[slot >>> 5] as Int32Array
    const bit = 1 << (slot & (WIDTH - 1))
    const step = low | 1
    for (let probe = 0, at = high; probe < PROBES; probe++, at = (at + step) | 0) {
      ;(words[at >>> (32 - BITS)] as number) |= bit
    }
  }

  remove(generation: number): void {
    const slot = this.#generations.indexOf(generation)
    if (slot === -1) return
    const words = this.#groups[slot >>> 5] as Int32Array
    const rest = ~(1 << (slot & (WIDTH - 1)))
    for (let at = 0; at < words.length; at++) (words[at] as number) &= rest
    this.#generations[slot] = undefined
  }

  generations(): readonly number[] {
    return this.#generations.filter((generation) => generation !== undefined)
  }

  /** The generations that may hold it. Never leaves one out that does. */
  find(high: number, low: number, into: number[]): void {
    const step = low | 1
    for (let group = 0; group < this.#groups.length; group++) {
      const words = this.#groups[group] as Int32Array
      let bits = -1
      for (let probe = 0, at = high; probe < PROBES && bits !== 0; probe++, at = (at + step) | 0) {
        bits &= words[at >>> (32 - BITS)] as number
      }
      for (; bits !== 0; bits &= bits - 1) {
        const generation = this.#generations[group * WIDTH + 31 - Math.clz32(bits & -bits)]
        if (generation !== undefined) into.push(generation)
      }
    }
  }
}

/**
 * A keyed 64-bit hash of an address: HalfSipHash-2-4 over UTF-16 units. It only says where to look; the address
 * itself is always compared. The key is random and stays in the file, so that nobody can send names that collide on
 * purpose. A SHA-256 would do as well, and takes ten times as long: a fifth of all the time of a batch.
 */

export class Hasher {
  /** The hash of the last text: two 32-bit integers. */
  high = 0
  low = 0
  readonly #key0: number
  readonly #key1: number

  constructor(key0: number, key1: number) {
    this.#key0 = key0
    this.#key1 = key1
  }

  hash(text: string): void {
    const { length } = text
    let v0 = this.#key0
    let v1 = this.#key1 ^ 0xee
    let v2 = 0x6c796765 ^ this.#key0
    let v3 = 0x74656462 ^ this.#key1
    // Two units at a time, then the length: texts that only differ in how they end are told apart by it.
    for (let i = 0; i < length + 2; i += 2) {
      const word =
        i + 1 < length
          ? text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)
          : i < length
            ? text.charCodeAt(i)
            : length
      v3 ^= word
      // Two rounds, written out: a loop of two takes half as long again.
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    v2 ^= 0xee
    for (let round = 0; round < 8; round++) {
      if (round === 4) {
        this.high = v1 ^ v3
        v1 ^= 0xdd
      }
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    this.low = v1 ^ v3
  }
}

/**
 * What is under way at the moment, by key. A Map in which things come and go by the thousand keeps them for long after:
 * each table that it outgrows points to the next one, so that from the first such table that has become old, everything
 * that was in the later ones hangs until the next full collection, and is copied by those in between. Here the tables
 * hold a cell that is emptied when its value goes.
 */
export class UnderWay<K, V> {
  readonly #cells = new Map<K, { value: V | undefined }>()

  get size(): number {
    return this.#cells.size
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value
  }

  set(key: K, value: V): void {
    const cell = this.#cells.get(key)
    if (cell) cell.value = value
    else this.#cells.set(key, { value })
  }

  /** What was there. `only`: nothing else is taken away. */
  take(key: K, only?: V): V | undefined {
    const cell = this.#cells.get(key)
    if (!cell || (only !== undefined && cell.value !== only)) return undefined
    const { value } = cell
    cell.value = undefined
    this.#cells.delete(key)
    return value
  }

  keys(): readonly K[] {
    return [...this.#cells.keys()]
  }

  values(): readonly V[] {
    return Array.from(this.#cells.values(), ({ value }) => value as V)
  }
}

/** All that are there at the moment, in no order. Why it is no Set is said in under-way.ts. */

/** One that can stand in a roster, and in one only. It knows its place: -1 is none. */
export interface Member {
  at: number
}

export class Roster<T extends Member> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.at = this.#members.push(member) - 1
  }

  has({ at }: T): boolean {
    return at >= 0
  }

  /** False: it was gone already. */
  delete(member: T): boolean {
    const { at } = member
    if (at < 0) return false
    const last = this.#members.pop() as T
    if (last !== member) {
      this.#members[at] = last
      last.at = at
    }
    member.at = -1
    return true
  }

  all(): readonly T[] {
    return [...this.#members]
  }

  /** `visit` may delete whom it likes: who is gone is not shown. */
  each(visit: (member: T) => void): void {
    for (const member of this.all()) if (this.has(member)) visit(member)
  }
}

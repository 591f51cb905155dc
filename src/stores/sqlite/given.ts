/**
 * The latest claims of this connection that nobody has settled yet, by their tokens: the owner's word on one of them
 * needs neither the hash of its address nor a comparison in the file, because a row keeps the address it was
 * claimed with. Only claims that were committed may be in here when somebody asks.
 */
import type { Draft } from '../../core/receipt.js'

/** More than that many at once, and the oldest are looked for by their addresses. */
const MOST = 2_048

export class Given {
  readonly #claims = new Map<string, { readonly id: number; readonly draft: Draft }>()

  add(id: number, draft: Draft): void {
    this.#claims.set(draft.token, { id, draft })
    if (this.#claims.size <= MOST) return
    for (const oldest of this.#claims.keys()) {
      this.#claims.delete(oldest)
      return
    }
  }

  /** The row that was claimed with this token, address and fingerprint. Once: the next change may be of another. */
  take({ token, tenant, scope, key, fingerprint }: Draft): number | undefined {
    const claim = this.#claims.get(token)
    if (claim === undefined) return undefined
    const { draft } = claim
    const isSame =
      draft.key === key &&
      draft.fingerprint === fingerprint &&
      draft.scope === scope &&
      draft.tenant === tenant
    if (!isSame) return undefined
    this.#claims.delete(token)
    return claim.id
  }

  clear(): void {
    this.#claims.clear()
  }
}

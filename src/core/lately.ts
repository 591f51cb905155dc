/** A function of an address that is asked again within moments, because what was claimed is soon settled. */
import type { Address } from './receipt.js'

/** Remembers what `make` gave for up to `most` keys, and then begins anew. */
export function lately(most: number, make: (address: Address) => string): (address: Address) => string {
  const known = new Map<string, { readonly tenant: string; readonly scope: string; readonly made: string }>()
  return (address) => {
    const { tenant, scope, key } = address
    const found = known.get(key)
    if (found !== undefined && found.scope === scope && found.tenant === tenant) return found.made
    const made = make(address)
    if (known.size >= most) known.clear()
    known.set(key, { tenant, scope, made })
    return made
  }
}

/**
 * Member names in canonical text: their order, the escape that keeps data from passing for a tag, and their
 * quoted text, remembered for the names that come again and again.
 */

const RESERVED = /^\$+ibid$/
const DOLLAR = 36
const REMEMBERED = 4_096
const LONGEST_REMEMBERED = 64
/** Below this, a plain insertion sort is several times faster than Array.prototype.sort. */
const FEW = 24

/** Sorts in place by UTF-16 code units of the name as it is written, whatever the locale. */
export function sortNames(names: string[]): string[] {
  for (const name of names) {
    if (name.charCodeAt(0) === DOLLAR && RESERVED.test(name)) return names.sort(byWritten)
  }
  if (names.length > FEW) return names.sort()
  for (let i = 1; i < names.length; i++) {
    const name = names[i] as string
    let at = i
    while (at > 0 && (names[at - 1] as string) > name) {
      names[at] = names[at - 1] as string
      at--
    }
    names[at] = name
  }
  return names
}

function byWritten(a: string, b: string): number {
  return written(a) < written(b) ? -1 : 1
}

function written(name: string): string {
  return RESERVED.test(name) ? `$${name}` : name
}

/** The text in front of a member's value; undefined where the name has half a surrogate pair. */
export type Lead = (name: string) => string | undefined

export const firstLead = rememberLeads('{')
export const nextLead = rememberLeads(',')

function rememberLeads(mark: string): Lead {
  const known = new Map<string, string>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    if (!name.isWellFormed()) return undefined
    const text = `${mark}${JSON.stringify(written(name))}:`
    if (name.length <= LONGEST_REMEMBERED && known.size < REMEMBERED) known.set(name, text)
    return text
  }
}

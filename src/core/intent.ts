/** What somebody wants done once, and the rules its names must keep. */
import { invalidIntent } from './errors.js'
import { onlyKnown } from './known.js'
import type { Address } from './receipt.js'

const KNOWN: ReadonlySet<string> = new Set(['tenant', 'scope', 'key', 'payload', 'identity', 'by', 'differs'])
const LONGEST = { tenant: 255, scope: 255, key: 255 }

// Control characters, and what line-based logs and terminals take for one.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** A misspelt payload would be none at all: whatever came next under the key would be taken for the same. */
export function checkIntent(intent: object): void {
  for (const name in intent) {
    if (!KNOWN.has(name)) onlyKnown(intent, [...KNOWN], 'an intent')
  }
}

/** Throws INVALID_INTENT, naming the field, unless all three parts are names a receipt can have. */
export function checkAddress(address: Address): void {
  // Most programs have few tenants and scopes, and come with the same ones again and again.
  if (address.tenant !== goodTenant) {
    checkName('tenant', address.tenant)
    goodTenant = address.tenant
  }
  if (address.scope !== goodScope) {
    checkName('scope', address.scope)
    goodScope = address.scope
  }
  checkName('key', address.key)
}

// No name at all to begin with: a missing one must not pass for the last one.
let goodTenant: unknown = Symbol('none yet')
let goodScope: unknown = goodTenant

function checkName(field: keyof Address, value: unknown): void {
  if (typeof value !== 'string') {
    const got = value === null ? 'null' : typeof value
    throw invalidIntent(
      value === undefined ? `${field} is missing` : `${field} is not a string but ${got}`,
      field === 'tenant'
        ? 'name the tenant in the intent, or once for all in createIbid({ tenant }) where there is only one'
        : `give ${field} as a string`,
    )
  }
  const longest = LONGEST[field]
  if (value.length === 0 || value.length > longest) {
    throw invalidIntent(
      `${field} has ${value.length} characters`,
      `give ${field} 1 to ${longest} characters; deriveKey makes a short key out of anything`,
    )
  }
  if (!isPrintableAscii(value) && (CONTROL.test(value) || !value.isWellFormed())) {
    throw invalidIntent(
      `${field} has a control character or half a surrogate pair`,
      `take control characters and broken text out of ${field}`,
    )
  }
}

/** What almost every name is, told without the regular expression. */
function isPrintableAscii(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e) return false
  }
  return true
}

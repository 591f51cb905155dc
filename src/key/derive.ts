/**
 * A key derived from what is known at the layer that can retry: tenant, layer, whatever else names the action
 * (run, step, tool, …), and the payload. The same action gets the same key; nothing can run into anything else,
 * because what is hashed is canonical JSON.
 */
import { invalidIntent } from '../core/errors.js'
import { canonicalJson } from './canonical.js'
import { digest, identityText } from './fingerprint.js'
import type { Identity } from './identity.js'
import { type KeyPart, problemOf } from './part.js'

export interface KeyParts {
  readonly tenant: string
  /** The layer that derives the key: 'http', 'queue', 'run', 'tool', … */
  readonly layer: string
  readonly [part: string]: KeyPart
}

const VERSION = 'k1'

export function deriveKey(parts: KeyParts, payload: unknown, identity?: Identity): string {
  if (typeof parts !== 'object' || parts === null) {
    throw invalidIntent('the parts of the key are missing', 'pass { tenant, layer, … } to deriveKey')
  }
  checkName('tenant', parts.tenant)
  checkName('layer', parts.layer)
  for (const [name, part] of Object.entries(parts)) checkPart(name, part)
  const text = `${canonicalJson({ ...parts })}\n${identityText(payload, identity)}`
  return `${VERSION}:${digest(`ibid key ${VERSION}`, text)}`
}

function checkName(field: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return
  throw invalidIntent(`${field} is missing`, `give deriveKey the ${field} as a string that is not empty`)
}

function checkPart(name: string, part: unknown): void {
  const problem = problemOf(part)
  if (problem === undefined) return
  throw invalidIntent(
    `part ${JSON.stringify(name)} of the key is ${problem}`,
    'give every part as a string that is not empty, a safe number, a boolean or a bigint, or leave it out',
  )
}

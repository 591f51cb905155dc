/**
 * The fingerprint of a payload: SHA-256 of the canonical text of what counts in it. The version in front changes
 * whenever the same payload would get another text, so that old receipts are never taken for conflicts unseen.
 */
import { hash } from 'node:crypto'
import { invalidIntent } from '../core/errors.js'
import { type Identity, readIdentity } from './identity.js'
import { startWalk } from './walk.js'
import { writeText } from './writer.js'

const FINGERPRINT_VERSION = '1'

export function fingerprint(payload: unknown, identity?: Identity): string {
  return fingerprintOfText(identityText(payload, identity))
}

/**
 * What the fingerprint is made of: equal texts, equal fingerprints, so a cache can compare them without hashing.
 * Integers past 2^53 are refused: two different ones may have become one number before they came here.
 */
export function identityText(payload: unknown, identity?: Identity): string {
  const walk = startWalk(Number.MAX_SAFE_INTEGER)
  if (identity === undefined) return writeText(payload, undefined, walk)
  const lens = readIdentity(identity)
  const text = writeText(payload, lens, walk)
  if (lens.leaf || walk.counted > 0) return text
  throw invalidIntent(
    'identity.include matches nothing in this payload, so that all such payloads would be one',
    'name fields that the payload has',
  )
}

export function fingerprintOfText(text: string): string {
  return `${FINGERPRINT_VERSION}:${digest(`ibid fingerprint ${FINGERPRINT_VERSION}`, text)}`
}

/** `domain` has no line break, so that no text of one domain is a text of another. */
export function digest(domain: string, text: string): string {
  return hash('sha256', `${domain}\n${text}`, 'base64url')
}

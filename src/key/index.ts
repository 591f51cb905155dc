/** `ibid/key`: canonical JSON, fingerprints, and keys that are made of something. */
export { canonicalJson } from './canonical.js'
export { deriveKey, type KeyParts } from './derive.js'
export { fingerprint, fingerprintOfText, identityText } from './fingerprint.js'
export type { Identity, JsonSchema } from './identity.js'
export { parseStrict } from './parse.js'
export type { KeyPart } from './part.js'
export type { Path } from './paths.js'
export { intentKey } from './template.js'

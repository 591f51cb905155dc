/**
 * Keys that people can read: intentKey`${workflow}:${step}:refund`. Every part is percent-encoded, and between two
 * parts there has to be a character that no encoded part can have, so that parts never run into each other.
 */
import { invalidIntent } from '../core/errors.js'
import { checkAddress } from '../core/intent.js'
import { type KeyPart, problemOf } from './part.js'

/** Text that could as well come out of a part: what encodeURIComponent leaves alone or writes. */
const LIKE_A_PART = /^[\w.!~*'()%-]*$/

export function intentKey(literals: TemplateStringsArray, ...parts: readonly KeyPart[]): string {
  const texts: readonly unknown[] = Array.isArray(literals) ? literals : []
  if (texts.length !== parts.length + 1 || texts.some((text) => typeof text !== 'string')) {
    throw invalidIntent('intentKey was not used as a template tag', 'write intentKey`${workflow}:${step}`')
  }
  let key = texts[0] as string
  for (const [i, part] of parts.entries()) {
    const literal = texts[i + 1] as string
    if (i + 1 < parts.length) checkSeparator(literal, i)
    key += encode(part, i) + literal
  }
  checkAddress({ tenant: 'any', scope: 'any', key })
  return key
}

function checkSeparator(literal: string, i: number): void {
  if (!LIKE_A_PART.test(literal)) return
  throw invalidIntent(
    `parts ${i + 1} and ${i + 2} of the key are parted by ${JSON.stringify(literal)}, which a part may hold itself`,
    'put a colon or a slash between the parts of a key',
  )
}

function encode(part: unknown, i: number): string {
  const problem = problemOf(part)
  if (problem === undefined) return encodeURIComponent(String(part))
  throw invalidIntent(
    `part ${i + 1} of the key is ${problem}`,
    'give every part as a string that is not empty, a safe number, a boolean or a bigint',
  )
}

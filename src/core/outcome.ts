/**
 * What came of an effect, as text that a store keeps and a person can read: JSON with one member.
 * `value`: plain JSON. `rich`: JSON in which Dates, BigInts, Maps, Sets, bytes, Errors, undefined and the numbers that
 * JSON lacks are tagged, so that a replay gives them back. `error`: a refusal. `lost`: it happened, but what it
 * returned could not be kept. Encoding never throws: when it runs, the effect has happened.
 */
import { IbidError, Rejected } from './errors.js'
import { fromTagged, isPlain, toTagged } from './tagged.js'

export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: Rejected }
  | { readonly kind: 'lost'; readonly why: string }

export function encodeValue(value: unknown, maxLength: number): string {
  try {
    const text = isPlain(value)
      ? `{"value":${JSON.stringify(value)}}`
      : JSON.stringify({ rich: toTagged(value) })
    if (text.length <= maxLength) return text
    return lost(`its ${text.length} characters are over the limit of ${maxLength}`)
  } catch (error) {
    return lost(
      `it could not be written down: ${error instanceof Error ? error.message : 'it cannot be read'}`,
    )
  }
}

export function encodeError(error: IbidError, maxLength: number): string {
  const { code, message, action } = error
  const full = { code, message, action, ...(error.data === undefined ? {} : { data: error.data }) }
  const text = encodeValue(full, maxLength).replace(/^\{"(?:value|rich)":/, '{"error":')
  if (text.startsWith('{"error":')) return text
  const short = { code: cut(code, 100), message: cut(message, 1_000), action: cut(action, 1_000) }
  return JSON.stringify({ error: short })
}

/** Nobody holds a program without types to texts. */
function cut(text: unknown, most: number): string {
  return String(text).slice(0, most)
}

export function decodeOutcome(text: string): Outcome {
  const stored = JSON.parse(text) as Record<string, unknown>
  if ('value' in stored) return { kind: 'value', value: stored['value'] }
  if ('rich' in stored) return { kind: 'value', value: fromTagged(stored['rich']) }
  if ('lost' in stored) return { kind: 'lost', why: String(stored['lost']) }
  const { code, message, action, data } = fromTagged(stored['error']) as Record<string, unknown>
  return {
    kind: 'error',
    error: new Rejected(String(message), {
      code: String(code),
      action: String(action),
      data,
      replayed: true,
    }),
  }
}

/** The only outcomes that can be handed out again and again without reading the text anew. */
export function isPlainOutcome(text: string): boolean {
  return text.startsWith('{"value":')
}

function lost(why: string): string {
  return JSON.stringify({ lost: why })
}

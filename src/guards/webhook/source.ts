/**
 * What a source is: it knows how one vendor signs, names and repeats its events. A source looks at raw bytes and
 * headers only; it writes nothing, and whatever it does not believe is refused before anything is written.
 */

/** A delivery as it came in. Nothing in it is to be believed yet. */
export interface Arrived {
  readonly url: string
  readonly headers: Headers
  readonly body: Uint8Array
  /** The body as text, exactly: undefined when the bytes are not UTF-8. */
  readonly text: string | undefined
  readonly nowMs: number
}

export type Verdict<P> =
  /** Not signed by who it should be, or not now. `reason` is for the program's own eyes, never for the sender's. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Signed, but not an event of this vendor's shape. */
  | { readonly kind: 'malformed'; readonly reason: string }
  /** Signed, and a question to the endpoint itself: answered, not handled. */
  | { readonly kind: 'challenge'; readonly answer: string }
  | Signed<P>

export interface Signed<P> {
  readonly kind: 'event'
  /** What the vendor calls the event: the same in every redelivery. */
  readonly id: string
  readonly type: string | undefined
  readonly payload: P
  /** What must be the same whenever this id comes again. Anything else that differs is the vendor's business. */
  readonly identity: unknown
}

export interface Source<P = unknown> {
  /** The vendor, as it stands in the scope: `hook:stripe`. Lower case letters, digits and hyphens. */
  readonly name: string
  /** How long a duplicate may wait for the first before the vendor gives up on the connection. */
  readonly waitMs: number
  /** The largest body that the vendor sends. */
  readonly maxBytes: number
  /** Vendors that show, or take to heart, what stands in the answer get an empty one. */
  readonly silent?: boolean
  verify(arrived: Arrived): Promise<Verdict<P>>
}

export const MIB = 1_048_576

export const refused = (reason: string): Verdict<never> => ({ kind: 'refused', reason })
export const malformed = (reason: string): Verdict<never> => ({ kind: 'malformed', reason })

/** A member of something that was parsed from JSON, where it is a text that is not empty. */
export function textAt(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  const found = (value as Record<string, unknown>)[name]
  return typeof found === 'string' && found !== '' ? found : undefined
}

export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

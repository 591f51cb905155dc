/**
 * A request and an answer as every framework can give and take them: plain strings and bytes. Adapters make these
 * out of what their framework has at hand already, so that nothing is built or copied for the guard alone.
 */
import type { HeaderSource } from './kept-headers.js'

/** The bytes that were sent, or, where a framework has thrown them away, what it read out of them. */
export type Body = Uint8Array | { readonly parsed: unknown }

export interface Exchange<R> {
  readonly method: string
  /** As it was sent, without the query. */
  readonly path: string
  /** What stands behind the question mark, as it was sent; '' for none. */
  readonly query: string
  /** The pattern that the path matched, where the framework knows it: `/refunds/:id`. */
  readonly route?: string | undefined
  /** By its lower-case name; repeated headers joined by a comma. */
  header(name: string): string | undefined
  /** Asked for once, when the key is known to be good. */
  body(): Body | Promise<Body>
  /** The framework's own request: what a tenant resolver gets. */
  readonly request: R
}

export interface Answer {
  readonly status: number
  /** Name, value, name, value: what `writeHead` takes. */
  readonly headers: readonly string[]
  readonly body: string | Uint8Array
}

/** A response as it left the handler, complete. */
export interface Captured {
  readonly status: number
  readonly headers: readonly HeaderSource[]
  /** Undefined: longer than what is kept. */
  readonly body: string | Uint8Array | undefined
  readonly bytes: number
}

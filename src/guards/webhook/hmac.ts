/**
 * Any vendor that sends an HMAC in a header: over the body, or over a timestamp and the body. Where the id comes from
 * is said by the program; one from a header is as good as signed only if `signed` puts it under the HMAC.
 */
import type { Duration } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { anyOf, digestOf, freshness, mac, type MacAlgorithm, type MacEncoding, same } from './mac.js'
import { readSecret, type Secret } from './secret.js'
import { type Arrived, malformed, MIB, parseJson, refused, type Source, textAt } from './source.js'

export interface HmacOptions {
  /** The vendor, as it stands in the scope: `hook:acme-pay`. */
  readonly name: string
  readonly secret: Secret
  /** The header with the signature. */
  readonly header: string
  /** What stands before the signature in it, such as `sha256=`. */
  readonly prefix?: string
  /** Default sha256. */
  readonly algorithm?: MacAlgorithm
  /** Default hex. */
  readonly encoding?: MacEncoding
  /** The event's id: a header, or a member of the JSON body. */
  readonly id: { readonly header: string } | { readonly json: string }
  readonly type?: { readonly header: string } | { readonly json: string }
  /** The header with the time of signing. Without one there is no tolerance. */
  readonly timestamp?: { readonly header: string; readonly unit?: 's' | 'ms' }
  /** Default 5 minutes, to both sides. */
  readonly tolerance?: Duration
  /** What is signed. Default: the body, or `timestamp.body` where there is a timestamp. */
  readonly signed?: (delivery: Signing) => readonly (string | Uint8Array)[]
  /** Default 1 MiB. */
  readonly maxBytes?: number
}

export interface Signing {
  readonly headers: Headers
  readonly body: Uint8Array
  readonly timestamp: string | undefined
}

const KNOWN = [
  'name',
  'secret',
  'header',
  'prefix',
  'algorithm',
  'encoding',
  'id',
  'type',
  'timestamp',
  'tolerance',
  'signed',
  'maxBytes',
] satisfies (keyof HmacOptions)[]

export function hmac<P = unknown>(options: HmacOptions): Source<P> {
  onlyKnown(options, KNOWN, 'hmac')
  const { name, algorithm = 'sha256', encoding = 'hex', prefix = '' } = options ?? {}
  const secretsOf = readSecret(name, options?.secret)
  if (!options.header || !options.id) {
    throw invalidIntent(
      'hmac lacks header or id',
      'name the header of the signature, and where the id stands',
    )
  }
  if (options.tolerance !== undefined && !options.timestamp) {
    throw invalidIntent(
      'hmac has a tolerance and no timestamp, so that no delivery would be too old',
      'name the header of the time of signing in timestamp, or take tolerance away',
    )
  }
  const isFresh = freshness(options.tolerance)
  const signedParts = options.signed ?? usualParts
  return {
    name,
    waitMs: 8_000,
    maxBytes: options.maxBytes ?? MIB,
    async verify(arrived) {
      const { url, headers, body, nowMs } = arrived
      const signature = headers.get(options.header)
      if (!signature?.startsWith(prefix)) return refused(`${options.header} is missing or malformed`)
      const timestamp = options.timestamp && (headers.get(options.timestamp.header) ?? '')
      const unitMs = options.timestamp?.unit === 'ms' ? 1 : 1_000
      if (timestamp !== undefined && !isFresh(timestamp, nowMs, unitMs)) {
        return refused('the timestamp is missing or outside the tolerance')
      }
      const secrets = await secretsOf({ url, headers })
      const parts = signedParts({ headers, body, timestamp })
      const isSigned = anyOf(secrets, (secret) =>
        same(signature, prefix + mac(algorithm, secret, parts, encoding)),
      )
      if (!isSigned) return refused('the signature fits no secret')
      const payload = parseJson(arrived.text)
      const id = partOf(options.id, arrived, payload)
      if (id === undefined) return malformed('the event has no id where hmac({ id }) says')
      const type = options.type && partOf(options.type, arrived, payload)
      return { kind: 'event', id, type, payload: payload as P, identity: { body: digestOf(body) } }
    },
  }
}

function usualParts({ body, timestamp }: Signing): readonly (string | Uint8Array)[] {
  return timestamp === undefined ? [body] : [`${timestamp}.`, body]
}

function partOf(where: HmacOptions['id'], { headers }: Arrived, payload: unknown): string | undefined {
  return 'header' in where ? (headers.get(where.header) ?? undefined) : textAt(payload, where.json)
}

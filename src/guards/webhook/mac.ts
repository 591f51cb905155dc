/** HMACs over raw bytes, compared in constant time; and the age that a signed timestamp may have. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { type Duration, toMs } from '../../core/duration.js'

export type MacAlgorithm = 'sha256' | 'sha384' | 'sha512'
export type MacEncoding = 'hex' | 'base64' | 'base64url'

export function mac(
  algorithm: MacAlgorithm,
  secret: string,
  parts: readonly (string | Uint8Array)[],
  encoding: MacEncoding,
): string {
  const made = createHmac(algorithm, secret)
  for (const part of parts) made.update(part)
  return made.digest(encoding)
}

/** The length of a signature is no secret; everything else about it is. */
export function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Asks about every secret, also behind one that fits: how long it takes does not say which one it was. */
export function anyOf(secrets: readonly string[], fits: (secret: string) => boolean): boolean {
  let found = false
  for (const secret of secrets) if (fits(secret)) found = true
  return found
}

export function digestOf(...parts: readonly (string | Uint8Array)[]): string {
  return hash('sha256', Buffer.concat(parts.map((part) => Buffer.from(part))), 'base64url')
}

const DEFAULT_TOLERANCE: Duration = '5m'

/** Is a timestamp, in whole seconds or milliseconds as it stands in a header, close enough to now? */
export function freshness(
  tolerance: Duration = DEFAULT_TOLERANCE,
): (stamp: string | null, nowMs: number, unitMs?: number) => boolean {
  const toleranceMs = toMs(tolerance, 'tolerance')
  return (stamp, nowMs, unitMs = 1_000) =>
    stamp !== null && /^\d{1,14}$/.test(stamp) && Math.abs(nowMs - Number(stamp) * unitMs) <= toleranceMs
}

/**
 * Canonical JSON, RFC 8785: equal values have one text, whatever the order of their members, and different
 * values never share one. Only own enumerable members count; an undefined member is an absent one, as on the wire.
 *
 * What JSON lacks has one form each, `{"$ibid":kind,"v":…}`: Date, bigint, Map and Set (order does not count),
 * bytes, typed arrays, and undefined outside an object. A real member called `$ibid` gets a `$` more, so that no
 * data passes for a tag. Whatever has no honest text is refused with INVALID_INTENT, naming the place.
 */
import { startWalk } from './walk.js'
import { writeText } from './writer.js'

export function canonicalJson(value: unknown): string {
  return writeText(value, undefined, startWalk(Number.MAX_VALUE))
}

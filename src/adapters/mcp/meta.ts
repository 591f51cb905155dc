/**
 * What the host says in `_meta` of a call, and what it is told in `_meta` of the result. Hosts write `_meta`,
 * models write arguments: a key in the arguments is never one. The id of the JSON-RPC request is never one
 * either: a client that sends a broken call again does so under a new id.
 */
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { type IdempotencyMarks, marks } from '../../guards/broker/observation.js'
import type { JsonObject } from './message.js'

/** In `params._meta`: the host's key for this call, the same when the call is sent again. */
const KEY = 'ibid/idempotencyKey'
const ALIAS = 'idempotencyKey'
/** In `params._meta`, where there is no key: the run that the call belongs to. */
const RUN = 'ibid/runId'
/** In `params._meta`, where there is no key: 1 for a deliberate repeat, 2 for the next … */
const ORDINAL = 'ibid/ordinal'
/** In the result's `_meta`. */
const MARKS = 'ibid/idempotency'
/** In the result's `_meta`, for the host: whether the same call, under the same key, may be made again. */
export const ERROR = 'ibid/error'

export interface HostWords {
  readonly hostKey: string | undefined
  readonly runId: string | undefined
  readonly ordinal: number
}

export function isKeyed(meta: JsonObject): boolean {
  return KEY in meta || ALIAS in meta
}

export function readMeta(meta: JsonObject): HostWords {
  const hostKey = meta[KEY] ?? meta[ALIAS]
  if (hostKey !== undefined) checkAddress({ tenant: 'any', scope: 'any', key: hostKey as string })
  const { [RUN]: runId, [ORDINAL]: ordinal = 0 } = meta
  if (runId !== undefined && (typeof runId !== 'string' || runId === '')) {
    throw invalidIntent(`_meta ${RUN} is not a text`, 'name the run, or leave it out')
  }
  if (typeof ordinal !== 'number' || !Number.isSafeInteger(ordinal) || ordinal < 0) {
    throw invalidIntent(
      `_meta ${ORDINAL} is not a whole number from 0`,
      'count deliberate repeats, or leave it out',
    )
  }
  return { hostKey: hostKey as string | undefined, runId, ordinal }
}

/** The same params, with the key for an upstream that knows what to do with it. */
export function withKey(params: JsonObject, meta: JsonObject, key: string): JsonObject {
  return { ...params, _meta: { ...meta, [KEY]: key } }
}

export function marksAsMeta(seen: IdempotencyMarks): { [name: string]: unknown } {
  return { [MARKS]: seen }
}

/** Revisions without a handshake name themselves in every request, and want results to say of which kind they are. */
const REVISION = 'io.modelcontextprotocol/protocolVersion'

/** A result as this client's revision has it: it may be the replay of one that another revision got. */
export function inRevisionOf(meta: JsonObject, { resultType, ...result }: JsonObject): JsonObject {
  return REVISION in meta ? { resultType: resultType ?? 'complete', ...result } : result
}

/** The same result, marked. `content` and `structuredContent` are not touched. */
export function marked(
  result: JsonObject,
  replay: boolean,
  key: string | null,
  completedAt?: number,
): JsonObject {
  const { _meta } = result
  return {
    ...result,
    _meta: { ...(_meta as object | undefined), ...marksAsMeta(marks(replay, key, completedAt)) },
  }
}

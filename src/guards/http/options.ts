/** What a route declares about its key, its tenant and its responses, read once when the guard is made. */
import { IbidError, invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import type { Policy } from '../../core/policy.js'
import type { Identity } from '../../key/index.js'
import type { KeyPlaces } from './key-header.js'
import { readAllowed } from './kept-headers.js'
import type { Comparison } from './request-text.js'
import { readVerdicts, type Verdict, type Verdicts } from './verdict.js'

/** Must the client send a key? `derived`: where it sends none, one is made of what it asks for. */
export type Requirement = boolean | 'derived'

export interface HttpOptions<R = Request> {
  /** Whose key it is. Only a program whose `createIbid` names its single tenant may leave it out. */
  readonly tenant?: string | ((request: R) => string | undefined | Promise<string | undefined>)
  /** Default true. */
  readonly required?: Requirement | ((request: R) => Requirement)
  /** Where the key is looked for. Default `Idempotency-Key` and `X-Idempotency-Key`. */
  readonly keyHeaders?: readonly string[]
  /** A query parameter that may carry the key. Default: none. */
  readonly keyParameter?: string
  /** Response headers that are kept and replayed besides the usual ones. */
  readonly headers?: readonly string[]
  /** What a response says about the effect, by status or class, where it is not the default. */
  readonly verdicts?: Verdicts
  /** When two bodies are the same. Default `bytes`. */
  readonly compare?: 'bytes' | 'json'
  /** For `compare: 'json'`: which members say what is meant. */
  readonly identity?: Identity
  /** The operation that keys belong to. Default: method and route, or path where there is no route. */
  readonly scope?: string | ((request: R) => string)
  /** Window, lease, wait, timeout and recovery. */
  readonly policy?: Policy<Response>
  /** A path under which the outcome of a key can be asked for: GET, with `scope` and `key`. Default: none. */
  readonly statusPath?: string
  /** Longer request bodies are refused with 413. Default 10 MiB. */
  readonly maxRequestBytes?: number
  /** Longer response bodies are not kept. Default 256 KiB. */
  readonly maxResponseBytes?: number
}

export interface Settings<R> extends Comparison {
  readonly tenant: HttpOptions<R>['tenant']
  readonly required: Requirement | ((request: R) => Requirement)
  readonly places: KeyPlaces
  readonly allowed: ReadonlySet<string>
  readonly verdictOf: (status: number) => Verdict
  readonly scope: HttpOptions<R>['scope']
  readonly policy: Policy<Response> | undefined
  readonly statusPath: string | undefined
  readonly maxRequestBytes: number
  readonly maxResponseBytes: number
}

const KEY_HEADERS = ['idempotency-key', 'x-idempotency-key']
const MIB = 1_024 * 1_024
const KNOWN = [
  'tenant',
  'required',
  'keyHeaders',
  'keyParameter',
  'headers',
  'verdicts',
  'compare',
  'identity',
  'scope',
  'policy',
  'statusPath',
  'maxRequestBytes',
  'maxResponseBytes',
] satisfies (keyof HttpOptions)[]

export function readOptions<R>(options: HttpOptions<R>): Settings<R> {
  onlyKnown(options, KNOWN, 'the HTTP guard')
  const { compare = 'bytes', identity, statusPath } = options
  if (compare !== 'bytes' && compare !== 'json') {
    throw invalidIntent(`compare is ${JSON.stringify(compare)}`, "give compare 'bytes' or 'json'")
  }
  if (typeof options.required !== 'function') checkedRequirement(options.required ?? true)
  if (identity !== undefined && compare !== 'json') {
    throw invalidIntent('identity is given, but bodies are compared as bytes', "add compare: 'json'")
  }
  if (statusPath !== undefined && !statusPath.startsWith('/')) {
    throw invalidIntent(`statusPath is ${JSON.stringify(statusPath)}`, "give it a path: '/idempotency'")
  }
  return {
    tenant: options.tenant,
    required: options.required ?? true,
    places: {
      headers: (options.keyHeaders ?? KEY_HEADERS).map((name) => name.toLowerCase()),
      parameter: options.keyParameter,
    },
    allowed: readAllowed(options.headers),
    verdictOf: readVerdicts(options.verdicts),
    compare,
    identity,
    scope: options.scope,
    policy: options.policy,
    statusPath,
    maxRequestBytes: size(options.maxRequestBytes, 10 * MIB, 'maxRequestBytes'),
    maxResponseBytes: size(options.maxResponseBytes, MIB / 4, 'maxResponseBytes'),
  }
}

/** Whatever else it is, a promise included, must not come to `derived`: two wishes that are alike would be one. */
export function checkedRequirement(required: unknown): Requirement {
  if (typeof required === 'boolean' || required === 'derived') return required
  throw new IbidError('required is not true, false or derived; nothing was executed', {
    code: 'INVALID_OPTIONS',
    retriable: false,
    action: "give the HTTP guard required: true, false or 'derived', or a function that returns one at once",
  })
}

function size(given: number | undefined, usual: number, field: string): number {
  if (given === undefined) return usual
  if (Number.isSafeInteger(given) && given >= 0) return given
  throw invalidIntent(`${field} is ${String(given)}`, `give ${field} a whole number of bytes`)
}

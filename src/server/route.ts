/** What a route is: one method, one exact path, the right it asks for, its description, and what it does. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Ibid } from '../ibid.js'
import type { Principal, Right } from './api-keys.js'
import type { Decisions } from './decisions.js'
import type { Limits } from './limits.js'
import type { Meters } from './meters.js'
import type { Settings } from './settings.js'
import type { Stopping } from './stopping.js'

/** What the parts of one server share. */
export interface Premises {
  readonly ibid: Ibid
  readonly settings: Settings
  readonly limits: Limits
  readonly decisions: Decisions
  readonly meters: Meters
  readonly stopping: Stopping
  readonly version: string
}

export interface ApiRequest {
  readonly at: Premises
  readonly principal: Principal
  /** False: the key was revoked meanwhile. For whoever is served longer than one answer. */
  readonly isStillGood: () => Promise<boolean>
  readonly query: URLSearchParams
  /** The JSON that was sent; undefined where a route takes none. */
  readonly body: unknown
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** `any`: every key that is good. */
  readonly right: Right | 'any'
  /** An operation of OpenAPI 3.1. */
  readonly about: Readonly<Record<string, unknown>>
  /** Undefined: it has taken the response into its own hands. */
  readonly handle: (request: ApiRequest) => Promise<Answer | undefined>
}

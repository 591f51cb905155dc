/** What can be asked about receipts and about the decisions on them, a page at a time. */
import type { State } from './receipt.js'

export interface ListQuery {
  readonly tenant?: string | undefined
  readonly scope?: string | undefined
  readonly key?: string | undefined
  readonly state?: State | readonly State[] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface LogQuery {
  readonly tenant?: string | undefined
  readonly scope?: string | undefined
  readonly key?: string | undefined
  /** Only decisions at this time or later, in milliseconds of the store's clock. */
  readonly since?: number | undefined
  readonly newestFirst?: boolean | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

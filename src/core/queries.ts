/** What can be asked about receipts and about the decisions on them, a page at a time. */
import { invalidIntent } from './errors.js'
import { onlyKnown } from './known.js'
import { type State, STATES } from './receipt.js'

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

/** A state that there is not has no receipts: whoever asks for what is `held` must not be told that nothing is. */
export function statesOf(query: ListQuery): readonly State[] | undefined {
  onlyKnown(query, ['tenant', 'scope', 'key', 'state', 'limit', 'cursor'], 'list')
  const states = query.state === undefined ? undefined : [query.state].flat()
  const wrong = states?.find((state) => !STATES.includes(state))
  if (wrong === undefined) return states
  throw invalidIntent(
    `state is ${JSON.stringify(wrong)}`,
    `use ${STATES.join(', ')}; what is held is unknown`,
  )
}

export const PAGE = { default: 100, most: 1_000 }

export function pageSize(limit: number = PAGE.default): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE.most) return limit
  throw invalidIntent(`limit is ${String(limit)}`, `give limit a whole number from 1 to ${PAGE.most}`)
}

/**
 * What is sent: a batch as columns, each an array. Most columns of most batches have
 * the same value throughout, and are sent as that one value; `batch` in statements.ts gives it back to every row.
 */
import { type AuditEvent, writable } from '../../core/audit.js'
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { ArrayParam } from './arrays.js'

/** A draft and the digest of its address. */
export interface Placed<T> {
  readonly digest: string
  readonly value: T
}

/** These three in the order of their columns in statements.ts. */
export function draftColumns(drafts: readonly Placed<Draft>[]): ArrayParam[] {
  return [
    digests(drafts),
    texts(drafts, (draft) => draft.tenant),
    texts(drafts, (draft) => draft.scope),
    texts(drafts, (draft) => draft.key),
    texts(drafts, (draft) => draft.fingerprint),
    texts(drafts, (draft) => draft.state),
    texts(drafts, (draft) => draft.token),
    numbers(drafts, (draft) => draft.attempt),
    numbers(drafts, (draft) => draft.maxAttempts),
    texts(drafts, (draft) => draft.recovery),
    numbers(drafts, (draft) => draft.leaseMs),
    numbers(drafts, (draft) => draft.windowMs),
    texts(drafts, (draft) => draft.outcome),
    numbers(drafts, (draft) => draft.epoch),
    numbers(drafts, (draft) => draft.createdAt),
    numbers(drafts, (draft) => draft.forMs),
    texts(drafts, (draft) => draft.audit.event),
    texts(drafts, (draft) => writable(draft.audit.by)),
    texts(drafts, (draft) => writable(draft.audit.why)),
  ]
}

export function swapColumns(swaps: readonly Placed<Swap>[]): ArrayParam[] {
  const drafts = swaps.map(({ digest, value }) => ({ digest, value: value.next }))
  return [
    ...draftColumns(drafts),
    texts(swaps, ({ expect }) => expect.token),
    texts(swaps, ({ expect }) => expect.state),
    texts(swaps, ({ expect }) => (expect.until === undefined ? null : 'true')),
    numbers(swaps, ({ expect }) => expect.until ?? null),
  ]
}

/** The same values for a statement that takes one of each. */
export function draftValues({ digest, value: draft }: Placed<Draft>): unknown[] {
  const { tenant, scope, key, fingerprint, state, token, attempt, maxAttempts, recovery, audit } = draft
  const { leaseMs, windowMs, outcome, epoch, createdAt, forMs } = draft
  const content = [digest, tenant, scope, key, fingerprint, state, token, attempt, maxAttempts, recovery]
  const rest = [leaseMs, windowMs, outcome, epoch, createdAt, forMs]
  return [...content, ...rest, audit.event, writable(audit.by), writable(audit.why)]
}

export function swapValues({ digest, value: { expect, next } }: Placed<Swap>): unknown[] {
  const { token, state, until } = expect
  return [
    ...draftValues({ digest, value: next }),
    token,
    state,
    until === undefined ? null : 'yes',
    until ?? null,
  ]
}

export function eventColumns(events: readonly Placed<AuditEvent>[]): ArrayParam[] {
  return [
    digests(events),
    numbers(events, (event) => event.epoch),
    numbers(events, (event) => event.attempt),
    numbers(events, (event) => event.count),
    texts(events, (event) => event.tenant),
    texts(events, (event) => event.scope),
    texts(events, (event) => event.key),
    texts(events, (event) => event.event),
    texts(events, (event) => event.state),
    texts(events, (event) => event.fingerprint),
    texts(events, (event) => writable(event.by)),
    texts(events, (event) => writable(event.why)),
  ]
}

function texts<T>(rows: readonly Placed<T>[], pick: (value: T) => string | null): ArrayParam {
  return new ArrayParam('text', column(rows, pick))
}

function numbers<T>(rows: readonly Placed<T>[], pick: (value: T) => number | null): ArrayParam {
  return new ArrayParam('number', column(rows, pick))
}

function digests<T>(rows: readonly Placed<T>[]): ArrayParam {
  return new ArrayParam(
    'uuid',
    rows.map(({ digest }) => digest),
  )
}

/** Nothing where all are null, one value where all are the same. */
function column<T, V>(rows: readonly Placed<T>[], pick: (value: T) => V | null): readonly (V | null)[] {
  const values = rows.map(({ value }) => pick(value))
  const [first] = values
  if (values.some((value) => value !== first)) return values
  return first === null || first === undefined ? [] : [first]
}

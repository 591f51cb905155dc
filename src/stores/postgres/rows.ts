/** Between rows and what the seam speaks of: arrays of columns on the way in, arrays of values on the way out. */
import type { AuditEvent, AuditName } from '../../core/audit.js'
import type { Draft, Receipt, Recovery, State } from '../../core/receipt.js'
import type { Swap } from '../../store.js'

/** One row, its values in the order of the statement's columns. */
export type Row = readonly unknown[]
export type Param = string | number | null

/** A draft and the digest of its address. */
export interface Placed<T> {
  readonly digest: string
  readonly value: T
}

/** In the order of DRAFT in statements.ts. */
export function draftColumns(drafts: readonly Placed<Draft>[]): Param[] {
  return [
    plain(drafts.map(({ digest }) => digest)),
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
  ]
}

export function swapColumns(swaps: readonly Placed<Swap>[]): Param[] {
  const drafts = swaps.map(({ digest, value }) => ({ digest, value: value.next }))
  return [
    ...draftColumns(drafts),
    texts(drafts, (draft) => draft.audit.event),
    texts(drafts, (draft) => draft.audit.by ?? null),
    texts(drafts, (draft) => draft.audit.why ?? null),
    texts(swaps, ({ expect }) => expect.token),
    texts(swaps, ({ expect }) => expect.state),
    column(swaps, ({ expect }) => (expect.until === undefined ? null : true), String),
    numbers(swaps, ({ expect }) => expect.until ?? null),
  ]
}

export function eventColumns(events: readonly Placed<AuditEvent>[]): Param[] {
  return [
    plain(events.map(({ digest }) => digest)),
    numbers(events, (event) => event.epoch),
    numbers(events, (event) => event.attempt),
    numbers(events, (event) => event.count),
    texts(events, (event) => event.tenant),
    texts(events, (event) => event.scope),
    texts(events, (event) => event.key),
    texts(events, (event) => event.event),
    texts(events, (event) => event.state),
    texts(events, (event) => event.fingerprint),
    texts(events, (event) => event.by ?? null),
    texts(events, (event) => event.why ?? null),
  ]
}

/** The receipt that begins at column `from` of a row; see `receiptColumns` in statements.ts. */
export function receiptOf(row: Row, from: number): Receipt {
  return {
    tenant: row[from] as string,
    scope: row[from + 1] as string,
    key: row[from + 2] as string,
    fingerprint: row[from + 3] as string,
    state: row[from + 4] as State,
    token: row[from + 5] as string,
    attempt: Number(row[from + 6]),
    maxAttempts: Number(row[from + 7]),
    recovery: row[from + 8] as Recovery,
    leaseMs: Number(row[from + 9]),
    windowMs: Number(row[from + 10]),
    outcome: row[from + 11] as string | null,
    epoch: Number(row[from + 12]),
    createdAt: Number(row[from + 13]),
    at: Number(row[from + 14]),
    until: row[from + 15] === null ? null : Number(row[from + 15]),
  }
}

/** Without the id in the first column. */
export function eventOf(row: Row): AuditEvent {
  const [, tenant, scope, key, event, by, why, at, state, epoch, attempt, fingerprint, count] = row
  return {
    tenant: tenant as string,
    scope: scope as string,
    key: key as string,
    event: event as AuditName,
    ...(by === null ? {} : { by: by as string }),
    ...(why === null ? {} : { why: why as string }),
    at: Number(at),
    state: state as State | null,
    epoch: Number(epoch),
    attempt: Number(attempt),
    fingerprint: fingerprint as string,
    count: Number(count),
  }
}

function texts<T>(rows: readonly Placed<T>[], pick: (value: T) => string | null): string {
  return column(rows, pick, quote)
}

function numbers<T>(rows: readonly Placed<T>[], pick: (value: T) => number | null): string {
  return column(rows, pick, String)
}

/** An array as Postgres reads it; an empty one where all are null. */
function column<T, V>(
  rows: readonly Placed<T>[],
  pick: (value: T) => V | null,
  write: (value: V) => string,
): string {
  let text = ''
  let some = false
  for (const { value } of rows) {
    const picked = pick(value)
    if (picked === null) text += ',NULL'
    else {
      some = true
      text += `,${write(picked)}`
    }
  }
  return some ? `{${text.slice(1)}}` : '{}'
}

/** Values that need no quoting. */
export function plain(values: readonly string[]): string {
  return `{${values.join(',')}}`
}

export function quoted(values: readonly string[]): string {
  return `{${values.map(quote).join(',')}}`
}

function quote(text: string): string {
  return SPECIAL.test(text) ? `"${text.replace(EACH_SPECIAL, '\\$&')}"` : `"${text}"`
}

const SPECIAL = /["\\]/
const EACH_SPECIAL = /["\\]/g

/**
 * What is sent: a batch as columns, each an array, or one value where the whole group of the column has the same
 * throughout; sent.ts says which columns there are, and how a statement reads them.
 */
import { type AuditEvent, writable } from '../../core/audit.js'
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { ArrayParam } from './arrays.js'
import { type Column, DRAFT, EVENT, type Group, GROUPS, KEPT, SWAP, varies } from './sent.js'

/** A draft and the digest of its address. */
export interface Placed<T> {
  readonly digest: string
  readonly value: T
}

export interface Columns {
  readonly params: unknown[]
  /** The groups of columns that came as arrays. */
  readonly varying: readonly Group[]
}

type Scalar = string | number | null
type Values<T> = (placed: Placed<T>) => readonly Scalar[]

export const draftColumns = (drafts: readonly Placed<Draft>[]): Columns => columns(DRAFT, drafts, draftValues)
export const swapColumns = (swaps: readonly Placed<Swap>[]): Columns => columns(SWAP, swaps, swapValues)
export const keptColumns = (swaps: readonly Placed<Swap>[]): Columns => columns(KEPT, swaps, keptValues)
export const eventColumns = (events: readonly Placed<AuditEvent>[]): Columns =>
  columns(EVENT, events, eventValues)

/** Token, epoch and arrival stay, and with them all that was written with the claim. */
export function keepsClaim({ expect, next }: Swap): boolean {
  return next.token === expect.token && next.epoch !== null && next.createdAt !== null
}

/** These four in the order of their columns in sent.ts. */
export function draftValues({ digest, value: draft }: Placed<Draft>): readonly Scalar[] {
  const { tenant, scope, key, fingerprint, state, token, attempt, maxAttempts, recovery, audit } = draft
  const { leaseMs, windowMs, outcome, epoch, createdAt, forMs } = draft
  const content = [digest, tenant, scope, key, fingerprint, state, token, attempt, maxAttempts, recovery]
  const rest = [leaseMs, windowMs, outcome, epoch, createdAt, forMs]
  return [...content, ...rest, audit.event, writable(audit.by), writable(audit.why)]
}

export function swapValues({ digest, value }: Placed<Swap>): readonly Scalar[] {
  return [...draftValues({ digest, value: value.next }), ...expectedValues(value)]
}

export function keptValues({ digest, value }: Placed<Swap>): readonly Scalar[] {
  const { tenant, state, outcome, forMs, audit } = value.next
  const note = [audit.event, writable(audit.by), writable(audit.why)]
  return [digest, tenant, state, outcome, forMs, ...note, ...expectedValues(value)]
}

function expectedValues({ expect: { token, state, until } }: Swap): readonly Scalar[] {
  return [token, state, until === undefined ? null : 'yes', until ?? null]
}

function eventValues({ digest, value: event }: Placed<AuditEvent>): readonly Scalar[] {
  const { epoch, attempt, count, tenant, scope, key, state, fingerprint } = event
  const place = [digest, epoch, attempt, count, tenant, scope, key]
  return [...place, event.event, state, fingerprint, writable(event.by), writable(event.why)]
}

function columns<T>(all: readonly Column[], rows: readonly Placed<T>[], values: Values<T>): Columns {
  const table = rows.map(values)
  const of = all.map((_, i) => table.map((row) => row[i] as Scalar))
  const differs = of.map((column) => column.some((value) => value !== column[0]))
  const varying = GROUPS.filter((group) => all.some((column, i) => column.group === group && differs[i]))
  const params = all.map((column, i) => {
    const sent = of[i] as readonly Scalar[]
    return varies(column, varying) ? new ArrayParam(kindOf(column.type), sent) : (sent[0] ?? null)
  })
  return { params, varying }
}

function kindOf(type: string): ArrayParam['kind'] {
  return type === 'uuid' || type === 'text' ? type : 'number'
}

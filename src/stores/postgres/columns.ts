/**
 * What is sent: a batch as columns, each an array, or one value where the whole group of the column has the same
 * throughout; sent.ts says which columns there are, and how a statement reads them.
 */
import { type AuditEvent, writable } from '../../core/audit.js'
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { ArrayParam } from './arrays.js'
import { markOf } from './digest.js'
import { LEAST_TOGETHER, ROOM } from './schema.js'
import { type Column, DRAFT, EVENT, GROUPS, KEPT, NAMES, type Shape, SWAP, varies } from './sent.js'

/** A draft and the digest of its address. */
export interface PlacedDraft {
  readonly digest: string
  readonly draft: Draft
}

export interface PlacedSwap extends PlacedDraft {
  readonly expect: Swap['expect']
}

export interface PlacedEvent {
  readonly digest: string
  readonly event: AuditEvent
}

export interface Columns {
  readonly params: unknown[]
  readonly shape: Shape
}

type Scalar = string | number | null
/** What a row has in each column, by the column's name. */
type Reads<T> = Readonly<Record<string, (row: T) => Scalar>>

const OF_DRAFT: Reads<PlacedDraft> = {
  digest: ({ digest }) => digest,
  tenant: ({ draft }) => draft.tenant,
  scope: ({ draft }) => draft.scope,
  key: ({ draft }) => draft.key,
  fingerprint: ({ draft }) => draft.fingerprint,
  state: ({ draft }) => draft.state,
  token: ({ draft }) => draft.token,
  attempt: ({ draft }) => draft.attempt,
  max_attempts: ({ draft }) => draft.maxAttempts,
  recovery: ({ draft }) => draft.recovery,
  lease_ms: ({ draft }) => draft.leaseMs,
  window_ms: ({ draft }) => draft.windowMs,
  outcome: ({ draft }) => draft.outcome,
  epoch: ({ draft }) => draft.epoch,
  created_at: ({ draft }) => draft.createdAt,
  for_ms: ({ draft }) => draft.forMs,
  event: ({ draft }) => draft.audit.event,
  '"by"': ({ draft }) => writable(draft.audit.by),
  why: ({ draft }) => writable(draft.audit.why),
}

const OF_SWAP: Reads<PlacedSwap> = {
  ...OF_DRAFT,
  expect_token: ({ expect }) => expect.token,
  expect_state: ({ expect }) => expect.state,
  compare_until: ({ expect }) => (expect.until === undefined ? null : 'yes'),
  expect_until: ({ expect }) => expect.until ?? null,
}

const OF_EVENT: Reads<PlacedEvent> = {
  digest: ({ digest }) => digest,
  epoch: ({ event }) => event.epoch,
  attempt: ({ event }) => event.attempt,
  count: ({ event }) => event.count,
  tenant: ({ event }) => event.tenant,
  scope: ({ event }) => event.scope,
  key: ({ event }) => event.key,
  event: ({ event }) => event.event,
  state: ({ event }) => event.state,
  fingerprint: ({ event }) => event.fingerprint,
  '"by"': ({ event }) => writable(event.by),
  why: ({ event }) => writable(event.why),
}

export const draftColumns = withMarks(columnsOf(DRAFT, OF_DRAFT))
export const swapColumns = withMarks(columnsOf(SWAP, OF_SWAP))
export const keptColumns = withMarks(columnsOf(KEPT, OF_SWAP), 'and names')
export const eventColumns = columnsOf(EVENT, OF_EVENT)

/** For the statements of a single receipt: all of it in parameters. */
export const draftValues = valuesOf(DRAFT, OF_DRAFT)
export const swapValues = valuesOf(SWAP, OF_SWAP)
export const keptValues = valuesOf(KEPT, OF_SWAP)

/** Token, epoch and arrival stay, and with them all that was written with the claim. */
export function keepsClaim({ expect, draft }: PlacedSwap): boolean {
  return draft.token === expect.token && draft.epoch !== null && draft.createdAt !== null
}

function valuesOf<T>(all: readonly Column[], reads: Reads<T>): (row: T) => readonly Scalar[] {
  const read = all.map(({ name }) => reads[name] as (row: T) => Scalar)
  return (row) => read.map((of) => of(row))
}

function columnsOf<T>(all: readonly Column[], reads: Reads<T>): (rows: readonly T[]) => Columns {
  const columns = all.map((column) => ({ ...column, read: reads[column.name] as (row: T) => Scalar }))
  return (rows) => {
    const [first] = rows as readonly [T]
    const varying = GROUPS.filter((group) =>
      columns.some((column) => {
        if (column.group !== group) return false
        const usual = column.read(first)
        return rows.some((row) => column.read(row) !== usual)
      }),
    )
    const params = columns.map((column) =>
      varies(column, varying)
        ? new ArrayParam(kindOf(column.type), rows.map(column.read))
        : column.read(first),
    )
    return { params, shape: { varying, together: false, named: [] } }
  }
}

/**
 * The note of a change is that of all where none of them has another, and there is room for all in one row. `names`:
 * these are not among the columns.
 */
function withMarks<T extends PlacedDraft>(
  columns: (rows: readonly T[]) => Columns,
  names?: 'and names',
): (rows: readonly T[]) => Columns {
  return (rows) => {
    const sent = columns(rows)
    const { params, shape } = sent
    const { varying } = shape
    if (rows.length < LEAST_TOGETHER || rows.length > ROOM) return sent
    if (varying.includes('note') || varying.includes('rest')) return sent
    const marks = new ArrayParam(
      'number',
      rows.map(({ digest }) => markOf(digest)),
    )
    const { draft: first } = rows[0] as T
    const named = NAMES.filter((name) =>
      names ? rows.every(({ draft }) => draft[name] === first[name]) : !varying.includes(name),
    )
    const beside = names ? named.map((name) => first[name]) : []
    return { params: [...params, marks, ...beside], shape: { varying, together: true, named } }
  }
}

function kindOf(type: string): ArrayParam['kind'] {
  return type === 'uuid' || type === 'text' ? type : 'number'
}

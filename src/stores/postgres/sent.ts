/**
 * The pieces that statements are made of. A batch comes as columns, sorted by digest (columns.ts). Most columns of most
 * batches have the same value throughout, and come as that one value: to the server every array costs as much as a
 * column that is read row by row. A statement has a text for each choice of those that came as arrays, which is why
 * columns vary in groups.
 */

/** Milliseconds for instants, microseconds for epochs. */
export const CLOCK = `clock as materialized (
  select micros / 1000 as now, micros
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros) as t)`

/** In the order of `receiptOf` in rows.ts. */
export function receiptColumns(r: string): string {
  return `${r}.tenant, ${r}.scope, ${r}.key, ${r}.fingerprint, ${r}.state, ${r}.token, ${r}.attempt, ${r}.max_attempts,
  ${r}.recovery, ${r}.lease_ms::float8, ${r}.window_ms::float8, ${r}.outcome, ${r}.epoch::float8,
  ${r}.created_at::float8, ${r}.at::float8, ${r}.until::float8`
}

/** `each`: always as arrays. The columns of another group come as arrays where one of them differs. */
export const GROUPS = ['tenant', 'scope', 'outcome', 'note', 'rest'] as const
export type Group = (typeof GROUPS)[number]

/** What the text of a statement for a batch depends on. */
export interface Shape {
  /** The groups of columns that come as arrays. */
  readonly varying: readonly Group[]
  /** All changes are noted alike, in one row of the audit log: their marks come behind the columns. */
  readonly together: boolean
  /** The names that are the same in all, and stand in their note once. Behind the marks, where no column is it. */
  readonly named: readonly Name[]
}

export const NAMES = ['tenant', 'scope'] as const
export type Name = (typeof NAMES)[number]

export interface Column {
  readonly name: string
  readonly type: string
  readonly group: Group | 'each'
}

/** In the order of `draftColumns`, `swapColumns`, `keptColumns` and `eventColumns` in columns.ts. */
export const DRAFT = columns(`digest uuid each, tenant text tenant, scope text scope, key text each,
  fingerprint text each, state text rest, token text each, attempt int rest, max_attempts int rest, recovery text rest,
  lease_ms bigint rest, window_ms bigint rest, outcome text outcome, epoch bigint rest, created_at bigint rest,
  for_ms bigint rest, event text note, "by" text note, why text note`)
const EXPECTED = columns(`expect_token text each, expect_state text rest, compare_until text rest,
  expect_until bigint rest`)
export const SWAP: readonly Column[] = [...DRAFT, ...EXPECTED]
/** A change that keeps what was claimed: all that it brings. */
export const KEPT: readonly Column[] = [
  ...columns(`digest uuid each, state text rest, outcome text outcome, for_ms bigint rest,
    event text note, "by" text note, why text note`),
  ...EXPECTED,
]
export const EVENT =
  columns(`digest uuid each, epoch bigint rest, attempt int rest, count int rest, tenant text tenant,
  scope text scope, key text each, event text rest, state text rest, fingerprint text each, "by" text rest,
  why text rest`)

/** The rows of a batch, as far as they differ, with their place in it. */
export function rowsOf(all: readonly Column[], varying: readonly Group[]): string {
  const numbered = all.map((column, i) => ({ ...column, param: i + 1 }))
  const sent = numbered.filter((column) => varies(column, varying))
  const arrays = sent.map(({ type, param }) => `$${param}::${type}[]`)
  const names = sent.map(({ name }) => name)
  return `select * from unnest(${arrays.join(', ')}) with ordinality as sent (${names.join(', ')}, ord)`
}

export function varies({ group }: Column, varying: readonly Group[]): boolean {
  return group === 'each' || varying.includes(group)
}

/** How a value is called in a statement: a column of a batch's rows, or a parameter. */
export type Value = (name: string) => string

/** `shape` undefined: for a single row, all of it in parameters. */
export function valuesOf(all: readonly Column[], shape?: Shape): Value {
  const called = new Map(
    all.map((column, i) => [
      column.name,
      shape && varies(column, shape.varying) ? `w.${column.name}` : `$${i + 1}::${column.type}`,
    ]),
  )
  const marks = all.length + 1
  called.set('marks', `$${marks}::int[]`)
  const others = shape?.named.filter((name) => !called.has(name)) ?? []
  others.forEach((name, i) => called.set(name, `$${marks + 1 + i}::text`))
  return (name) => called.get(name) as string
}

function columns(text: string): readonly Column[] {
  return text.split(',').map((column) => {
    const [name = '', type = '', group] = column.trim().split(/\s+/)
    return { name, type, group: group as Column['group'] }
  })
}

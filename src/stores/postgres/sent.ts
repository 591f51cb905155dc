/**
 * The pieces that statements are made of. A batch comes as columns, sorted by digest (columns.ts); where a column came
 * as one value, that one is everybody's, and where it came empty, it is null throughout.
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

/** In the order of `draftColumns`, `swapColumns` and `eventColumns` in columns.ts. */
export const DRAFT = `digest uuid, tenant text, scope text, key text, fingerprint text, state text, token text,
  attempt int, max_attempts int, recovery text, lease_ms bigint, window_ms bigint, outcome text, epoch bigint,
  created_at bigint, for_ms bigint, event text, "by" text, why text`
export const SWAP = `${DRAFT}, expect_token text, expect_state text, compare_until text, expect_until bigint`
export const EVENT = `digest uuid, epoch bigint, attempt int, count int, tenant text, scope text, key text, event text,
  state text, fingerprint text, "by" text, why text`

/** The rows of a batch, with their place in it. */
export function rowsOf(columns: string): string {
  const all = columnsOf(columns)
  const values = all.map(({ name, type }, i) => {
    const array = `$${i + 1}::${type}[]`
    return i === 0
      ? name
      : `coalesce(${name}, case cardinality(${array}) when 1 then (${array})[1] end) as ${name}`
  })
  const arrays = all.map(({ type }, i) => `$${i + 1}::${type}[]`)
  const names = all.map(({ name }) => name)
  return `select ${values.join(', ')}, ord
  from unnest(${arrays.join(', ')}) with ordinality as sent (${names.join(', ')}, ord)`
}

/** How a value is called in a statement: a column of a batch's rows, or a parameter. */
export type Value = (name: string) => string

export const ofRow: Value = (name) => `w.${name}`

export function ofParams(columns: string): Value {
  const params = new Map(columnsOf(columns).map(({ name, type }, i) => [name, `$${i + 1}::${type}`]))
  return (name) => params.get(name) as string
}

function columnsOf(columns: string): readonly { readonly name: string; readonly type: string }[] {
  return columns.split(',').map((column) => {
    const [name = '', type = ''] = column.trim().split(' ')
    return { name, type }
  })
}

/**
 * Plans are made once a session and kept, mostly while the tables are still empty. Each statement that everything waits
 * for has to find a receipt by its digest even then: one that goes through the receipts gets slower with each of them.
 */
import { Client } from 'pg'
import { expect, it } from 'vitest'
import { DRAFT, GROUPS, KEPT, type Shape, SWAP } from '../../src/stores/postgres/sent.js'
import { termsOf } from '../../src/stores/postgres/options.js'
import { workSession } from '../../src/stores/postgres/session.js'
import { statements } from '../../src/stores/postgres/statements.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

const each = { together: false, named: [] }
const CHOICES: readonly Shape[] = [
  { varying: [], together: true, named: ['tenant', 'scope'] },
  { varying: ['outcome'], together: true, named: ['tenant', 'scope'] },
  { varying: ['scope'], together: true, named: ['tenant'] },
  { varying: ['outcome', 'rest'], ...each },
  { varying: GROUPS, ...each },
]
/** All claims of a statement have one note. */
const ofClaims = ({ varying, ...others }: Shape): Shape => ({
  varying: varying.filter((group) => group !== 'note'),
  ...others,
})
/** The note's marks, and those names that no column is. */
const beside = (verb: string, { together, named }: Shape): number =>
  together ? 1 + (verb === 'swapKept' ? named.length : 0) : 0
const VERBS = [
  ['claim', DRAFT],
  ['claimRacing', DRAFT],
  ['swap', SWAP],
  ['swapKept', KEPT],
] as const
const cases = VERBS.flatMap(([verb, columns]) =>
  (verb.startsWith('claim') ? CHOICES.map(ofClaims) : CHOICES).map((shape) => ({
    verb,
    shape,
    varying: shape.varying,
    params: columns.length + beside(verb, shape),
  })),
)

it.each(cases)('$verb with $varying in arrays finds a receipt by its digest', async (one) => {
  await bench.open().check()
  const plan = await planOf(statements(bench.schema)[one.verb](one.shape).text, one.params)
  const looks = plan.filter((line) => line.includes('receipts_pkey'))
  const conditions = plan.filter((line) => line.includes('Index Cond') && line.includes('digest'))
  expect(looks.length).toBeGreaterThan(0)
  expect(conditions).toHaveLength(looks.length)
  expect(plan.filter((line) => /Seq Scan on (?!meta)/.test(line))).toEqual([])
})

/** As the store's own sessions make it. */
async function planOf(text: string, params: number): Promise<readonly string[]> {
  const client = new Client({ connectionString: bench.server.url })
  await client.connect()
  try {
    await client.query(workSession(termsOf({ schema: bench.schema })))
    await client.query(`prepare planned as ${text}`)
    const nulls = Array.from({ length: params }, () => 'null').join(', ')
    const { rows } = await client.query<{ readonly 'QUERY PLAN': string }>(
      `explain (costs off) execute planned(${nulls})`,
    )
    return rows.map((row) => row['QUERY PLAN'])
  } finally {
    await client.end()
  }
}

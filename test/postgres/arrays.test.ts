/** What the server reads of an array that was sent to it, in either form, is what was put in. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { ArrayParam } from '../../src/stores/postgres/arrays.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()

const LONG = 'x'.repeat(70_000)
const TEXTS: Readonly<Record<string, readonly (string | null)[]>> = {
  plain: ['a', 'bc', ''],
  odd: ['{"a", \\b}', 'NULL', ',', '"', '\\', ' ', '\n\t\u0001\u007f'],
  'some that are none': [null, 'a', null, '', null],
  'none at all': [null, null],
  'beyond ASCII': ['é', 'a', '\u{1F600}', '\u0080\u00ff', 'ж'.repeat(1_000)],
  'beyond ASCII, and none': ['ü', null, 'a'],
  long: [LONG, 'a', LONG],
  many: Array.from({ length: 5_000 }, (_, i) => String(i)),
}

it.each(Object.entries(TEXTS))('texts: %s', async (_name, values) => {
  const param = new ArrayParam('text', values)
  for (const sent of [param.toBinary(), param.toText()]) {
    const [row] = await bench.query('select to_json($1::text[]) as read', [sent])
    expect(row?.['read']).toEqual(values)
  }
})

it('digests', async () => {
  const ids = Array.from({ length: 300 }, () => randomUUID())
  const param = new ArrayParam(
    'uuid',
    ids.map((id) => id.replaceAll('-', '')),
  )
  for (const sent of [param.toBinary(), param.toText()]) {
    const [row] = await bench.query('select to_json($1::uuid[]) as read', [sent])
    expect(row?.['read']).toEqual(ids)
  }
})

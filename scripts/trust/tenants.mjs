/**
 * Pairs of tenants whose names were made to be mistaken for each other, with the same scope and key, or with parts that
 * were moved from one field to the next. Neither may see, block or replay what is the other's, one after the other or
 * one within the other, with everything that a process remembers.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const SEED = 8
const PARTS = [
  'a',
  'A',
  'acme',
  ':',
  '::',
  '/',
  '%',
  '\u00e9',
  'e\u0301',
  ' ',
  '0',
  '1',
  '-',
  '*',
  '?',
  '{',
  '}',
  "'",
  '"',
  '\\',
  '_',
  '💶',
  'null',
  '..',
]

export const tenants = {
  id: 'tenants',
  property: 'No tenant sees, blocks or replays what belongs to another',
  async run({ quick, progress }) {
    const { memoryStore } = await import('../../dist/stores/memory/index.js')
    const { sqliteStore } = await import('../../dist/stores/sqlite/index.js')
    const folder = await mkdtemp(path.join(tmpdir(), 'ibid-tenants-'))
    const pairs = quick ? 500 : 20_000
    try {
      const found = []
      let tried = 0
      for (const store of [memoryStore(), sqliteStore(path.join(folder, 'ibid.db'))]) {
        const one = await tryPairs(store, pairs, progress)
        found.push(...one.found)
        tried += one.tried
        await store.close()
      }
      const control = await tryPairs(runTogether(memoryStore()), pairs, progress)
      return {
        ran: { pairs: tried, stores: 2 },
        tried,
        violations: found.length,
        seeds: `${SEED}`,
        control: { planted: 1, caught: control.found.length > 0 ? 1 : 0 },
        details: found.slice(0, 10),
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** The breaches that were seen, in how many pairs. Keys are never used twice, so nobody was there before. */
async function tryPairs(store, pairs, progress) {
  const { createIbid } = await import('../../dist/index.js')
  const { random } = await import('../../dist/testing/random.js')
  const { next } = random(SEED)
  const ibid = createIbid({ store, housekeeping: false })
  const found = []
  let tried = 0
  const text = () =>
    Array.from({ length: 1 + Math.floor(next() * 3) }, () => PARTS[Math.floor(next() * PARTS.length)]).join(
      '',
    )
  for (let pair = 0; pair < pairs; pair++) {
    const [one, two] = alike(text(), text(), `${text()}${pair}`, next)
    if (one.tenant === two.tenant) continue
    tried++
    const call = (address, value, effect = () => value) =>
      ibid.once({ ...address, payload: value }, effect, { wait: 0 }).catch(({ code }) => ({ value: code }))
    const first = await call(one, 'one')
    const seen = await ibid.get(two)
    const second = await call(two, 'two')
    // And while the other is under way: nobody joins it, or is kept waiting by it.
    const [outer, inner] = [one, two].map((address) => ({ ...address, key: `${address.key} within` }))
    let fourth
    const third = await call(outer, 'one', async () => {
      fourth = await call(inner, 'two')
      return 'one'
    })
    const listed = await ibid.list({ tenant: two.tenant, limit: 50 })
    if (seen !== undefined) found.push(`${JSON.stringify([one, two])}: seen`)
    if (first.value !== 'one' || second.value !== 'two')
      found.push(`${JSON.stringify([one, two])}: ${first.value}, ${second.value}`)
    if (third.value !== 'one' || fourth?.value !== 'two')
      found.push(`${JSON.stringify([outer, inner])}, one within the other: ${third.value}, ${fourth?.value}`)
    const strangers = listed.receipts.filter(({ tenant }) => tenant !== two.tenant)
    if (strangers.length > 0) found.push(`${two.tenant} was shown what belongs to ${strangers[0].tenant}`)
    if (pair % 1_000 === 0) progress(`${pair} pairs on ${store.name}`)
  }
  return { found, tried }
}

/** Three ways to be mistaken: the same names elsewhere, a part moved over, and names that look the same. */
function alike(a, b, key, next) {
  const way = Math.floor(next() * 3)
  if (way === 0)
    return [
      { tenant: a, scope: b, key },
      { tenant: `${a}${b}`, scope: b, key },
    ]
  if (way === 1)
    return [
      { tenant: `${a}${b}`, scope: 'tool', key },
      { tenant: a, scope: `${b}tool`, key },
    ]
  return [
    { tenant: a, scope: b, key },
    { tenant: a.normalize('NFD') + b, scope: b.normalize('NFC'), key },
  ]
}

const joined = (it) => ({ ...it, tenant: 'all', scope: 'all', key: `${it.tenant}${it.scope}${it.key}` })

/** The planted fault: an address is its parts, one after the other. */
function runTogether(store) {
  return {
    ...store,
    claim: (wanted) => store.claim(wanted.map(joined)),
    swap: (changes) => store.swap(changes.map((change) => ({ ...change, next: joined(change.next) }))),
    get: (addresses) => store.get(addresses.map(joined)),
  }
}

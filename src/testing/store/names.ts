/** Names and bytes: whatever an address or an outcome is made of, it is kept and told apart byte for byte. */
import type { Address } from '../../core/receipt.js'
import type { Store } from '../../store.js'
import { found } from './bench.js'
import { draft, put, swapped, change } from './drafts.js'
import { holds, same } from './expect.js'
import { subject } from './suite.js'

const FULL_LENGTH = '\u{1F600}'.repeat(127) + 'x'

/** Each part in turn is one of two names that a careless store takes for one. */
const CONFUSABLE: readonly (readonly [string, string])[] = [
  ['refund', 'Refund'],
  ['refund', 'refund '],
  ['refund', ' refund'],
  ['1', '01'],
  ['1', '1.0'],
  ['\u00e9', 'e\u0301'],
  ['stra\u00dfe', 'strasse'],
  ['a_b', 'a%b'],
  ['a*', 'ab'],
  ['null', 'undefined'],
  ['x'.repeat(254) + 'a', 'x'.repeat(254) + 'b'],
  ['\u{1F600}'.repeat(127), FULL_LENGTH],
]

const AWKWARD = [
  ':',
  '::',
  '/',
  '|',
  '#',
  '\\',
  '"',
  "'",
  "''",
  '`',
  '$1',
  '?',
  '%',
  '_',
  '{}',
  '{a}',
  '[]',
  ',',
  ';--',
  '\u00a0',
  '\ufeff',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10ffff}',
  '__proto__',
  'constructor',
  '-0',
  'NaN',
  'true',
  FULL_LENGTH,
]

export const names = subject('names', {
  '[R1] does not let the parts of an address run together': async ({ store }) => {
    const separators = ['', ':', '/', '|', '#', ',', ' ', '\u00a0', '-', '_', '.', '1', '1:']
    const split = separators.flatMap((s) => [
      { tenant: `a${s}b`, scope: 'c', key: 'd' },
      { tenant: 'a', scope: `b${s}c`, key: 'd' },
      { tenant: 'a', scope: 'b', key: `c${s}d` },
      { tenant: `a${s}`, scope: 'b', key: `c${s}d` },
      { tenant: 'a', scope: `${s}b`, key: `c${s}d` },
    ])
    const distinct = [...new Map(split.map((address) => [JSON.stringify(address), address])).values()]
    await allApart(store, distinct, "('ab', 'c') and ('a', 'bc') must be two addresses")
  },

  '[R1] keeps tenants apart': async ({ store }) => {
    const address = { scope: 'refund', key: 'wf_81:step_3' }
    await allApart(
      store,
      ['acme', 'acme2', 'Acme', 'globex'].map((tenant) => ({ tenant, ...address })),
      'the same scope and key of two tenants must be two receipts',
    )
    const mine = await found(store, { tenant: 'acme', ...address })
    await swapped(store, change(mine, 'succeeded'))
    const others = await store.get(['acme2', 'Acme', 'globex'].map((tenant) => ({ tenant, ...address })))
    same(
      others.receipts.map((r) => r?.state),
      ['pending', 'pending', 'pending'],
      "a swap must leave another tenant's receipt alone",
    )
  },

  '[R1] tells names apart byte for byte': async ({ store }) => {
    for (const [i, pair] of CONFUSABLE.entries()) {
      for (const part of ['tenant', 'scope', 'key'] as const) {
        const base = { tenant: `t${i}`, scope: `${part}-${i}`, key: `k${i}` }
        const addresses = pair.map((name) => ({ ...base, [part]: name }))
        await allApart(store, addresses, `${JSON.stringify(pair)} must be two names for a ${part}`)
      }
    }
  },

  'keeps awkward names as they are': async ({ store }) => {
    for (const name of AWKWARD) {
      const stored = await put(store, {
        tenant: name,
        scope: name,
        key: name,
        fingerprint: name,
        token: `t${name}`,
      })
      same([stored.tenant, stored.scope, stored.key, stored.fingerprint], [name, name, name, name], KEPT)
      same(stored.token, `t${name}`, KEPT)
      const listed = await store.scan({ tenant: name, scope: name, key: name, limit: 10 })
      same(
        listed.receipts.map(({ key }) => key),
        [name],
        'a scan must find a name as it is, without patterns',
      )
    }
  },

  '[R5] keeps an outcome byte for byte': async ({ store }) => {
    const long = 'x\u{1F600}\n'.repeat(Math.floor(Math.min(store.maxOutcome, 200_000) / 4))
    const texts = [
      '',
      '{}',
      '{"value":null}',
      '{"value":"\\u0000"}',
      '{"value": 1.0}',
      ' {"b":1,"a":2} ',
      '\r\n\t',
      long,
    ]
    for (const outcome of [...texts, ...AWKWARD]) {
      const pending = await put(store)
      await swapped(store, change(pending, 'succeeded', { outcome }))
      const settled = await found(store, pending)
      holds(
        settled.outcome === outcome,
        `a store must keep an outcome byte for byte: ${JSON.stringify(outcome.slice(0, 60))}`,
      )
    }
  },
})

const KEPT = 'a store must keep names byte for byte'

async function allApart(store: Store, addresses: readonly Address[], duty: string): Promise<void> {
  const wanted = addresses.map((address) => draft(address))
  const results = await store.claim(wanted)
  same(
    results.map(({ won }) => won),
    wanted.map(() => true),
    duty,
  )
  const { receipts } = await store.get(addresses)
  same(
    receipts.map((receipt) => receipt?.token),
    wanted.map(({ token }) => token),
    duty,
  )
}

/** Receipts that differ from their neighbours in one thing, in batches and alone: nothing of one becomes another's. */
import type { Draft, Receipt } from '../../core/receipt.js'
import type { Claimed, Store, Swap, Swapped } from '../../store.js'
import { events } from './audit.js'
import { change, draft, HOUR_MS, next, stamped } from './drafts.js'
import { holds, must, same } from './expect.js'
import { subject } from './suite.js'

const UNLIKE: readonly Partial<Draft>[] = [
  { tenant: 'globex' },
  { scope: 'Refund' },
  { fingerprint: '' },
  { token: 't' },
  { token: 'token of \u{1F600} and "quotes"' },
  { state: 'unknown' },
  { state: 'released' },
  { attempt: 12 },
  { maxAttempts: 1 },
  { recovery: 'check' },
  { leaseMs: 1 },
  { windowMs: 86_400_001 },
  { forMs: null },
  { forMs: HOUR_MS + 1 },
  { epoch: 1_900_000_000_000_001 },
  { createdAt: 1_500_000_000_000 },
  { outcome: '' },
  { outcome: '{"value":1}' },
  { outcome: '{"value":"é"}' },
  { outcome: '\n' },
  { outcome: 'two\nlines' },
  { outcome: 'Two\nlines' },
  { outcome: 'two\nlines\n' },
  { audit: { event: 'claimed', why: 'asked' } },
]

export const unlike = subject('unlike receipts', {
  '[R2] in a batch are claimed as each of them was wanted': async ({ store }) => {
    const wanted = between(draft)
    await claimed(store, wanted)
    const noted = new Map((await events(store, {})).map((event) => [event.key, event]))
    for (const { key, audit, state } of wanted) {
      const { event, why, state: as } = must(noted.get(key), 'each claim of a batch must be in the log')
      same({ event, why, as }, { ...audit, as: state }, 'of a batch, each claim must be noted as it was')
    }
  },

  '[R2] one by one are claimed as each of them was wanted': async ({ store }) => {
    for (const wanted of between(draft)) await claimed(store, [wanted])
  },

  '[R3] in a batch are changed as each of them was wanted, and the rest is left alone': async ({ store }) => {
    const before = await claimed(
      store,
      between(() => draft()),
    )
    const changes = before.map(changeOf)
    await changed(store, before, changes, await store.swap(changes))
  },

  '[R3] one by one are changed as each of them was wanted, and the rest is left alone': async ({ store }) => {
    const before = await claimed(
      store,
      between(() => draft()),
    )
    const changes = before.map(changeOf)
    const results: Swapped[] = []
    for (const change of changes) results.push(...(await store.swap([change])))
    await changed(store, before, changes, results)
  },

  '[R8] in a batch are each taken over under an epoch above its own': async ({ store }) => {
    const epochs = [1_900_000_000_000_001, 1_900_000_000_000_007, 1_900_000_000_000_004]
    const before = await claimed(
      store,
      epochs.map((epoch) => draft({ epoch })),
    )
    const results = await store.swap(before.map((receipt, i) => takeOver(receipt, `next-${i}`)))
    const above = results.map((result, i) => result.done && result.epoch > must(epochs[i], 'an epoch'))
    same(above, [true, true, true], 'a receipt must be taken over under an epoch above its last one')
    const { receipts } = await store.get(before)
    const told = results.map((result) => result.done && result.epoch)
    same(
      receipts.map((receipt) => receipt?.epoch),
      told,
      'the epoch that a store tells must be the one that it wrote',
    )
  },
})

async function changed(
  store: Store,
  before: readonly Receipt[],
  changes: readonly Swap[],
  results: readonly Swapped[],
): Promise<void> {
  const { receipts } = await store.get(before)
  for (const [i, result] of results.entries()) {
    const { next: wanted } = must(changes[i], 'a change')
    same(result.done, !isStale(i), `each change must be made or not by itself: number ${i}`)
    const expected = result.done ? written(wanted, { ...result, won: true }) : before[i]
    same(receipts[i], expected, `each change must be written as it was wanted: number ${i}`)
  }
}

/** Each twice, between two that have nothing special. */
function between(one: (fields?: Partial<Draft>) => Draft): readonly Draft[] {
  return [{}, ...UNLIKE.flatMap((fields) => [fields, fields, {}, {}])].map((fields) => one(fields))
}

async function claimed(store: Store, wanted: readonly Draft[]): Promise<readonly Receipt[]> {
  const results = await store.claim(wanted)
  const { receipts } = await store.get(wanted)
  return wanted.map((one, i) => {
    const result = results[i]
    holds(result?.won === true, 'a store must insert each of a batch whose address is free')
    const epoch = one.epoch ?? result.epoch
    same(result.epoch, epoch, `each receipt must be brought under the epoch that it came with: number ${i}`)
    const receipt = must(receipts[i], 'a store must have what it was given in a batch')
    same(receipt, written(one, result), `each receipt must be written as it was wanted: number ${i}`)
    return receipt
  })
}

/** Settled or taken over, each as none of its neighbours; some by somebody who does not own it any more. */
function changeOf(receipt: Receipt, i: number): Swap {
  const { tenant: _tenant, scope: _scope, ...fields } = UNLIKE[(i >> 1) % UNLIKE.length] as Partial<Draft>
  const { state = 'succeeded', forMs = HOUR_MS, outcome = null, audit = { event: 'settled' } } = fields
  const { token, state: from, until } = receipt
  const settled = next(receipt, state, { forMs, outcome, audit })
  const stale = [
    { token: `${token}x`, state: from },
    { token, state: 'failed' as const },
    { token, state: from, until: 1 },
  ]
  const owned = i % 3 === 0 ? { token, state: from, until } : { token, state: from }
  return {
    expect: isStale(i) ? must(stale[i % 3], 'one of three') : owned,
    next: i % 7 === 3 ? takeOver(receipt, `next-${i}`, fields).next : settled,
  }
}

function takeOver(receipt: Receipt, token: string, fields: Partial<Draft> = {}): Swap {
  return change(receipt, 'pending', { token, epoch: null, createdAt: null, ...fields })
}

function isStale(i: number): boolean {
  return i % 5 === 4
}

function written(wanted: Draft, claim: Claimed & { won: true }): Receipt {
  return { ...stamped(wanted, claim), createdAt: wanted.createdAt ?? claim.now }
}

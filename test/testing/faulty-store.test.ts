/** The store that fails on purpose: what each fault does, that it can be repeated, and what an engine makes of it. */
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../src/core/receipt.js'
import { createIbid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { type FaultPlan, type FaultyStore, faultyStore } from '../../src/testing/index.js'

function draft(key: string): Draft {
  const content = { tenant: 't', scope: 's', key, fingerprint: 'f', state: 'pending', token: key } as const
  const terms = {
    attempt: 1,
    maxAttempts: 1,
    recovery: 'hold',
    leaseMs: 1,
    windowMs: 1,
    outcome: null,
  } as const
  return { ...content, ...terms, epoch: null, createdAt: null, forMs: 1_000, audit: { event: 'claimed' } }
}

async function keys(store: FaultyStore): Promise<readonly string[]> {
  return (await store.scan({ limit: 100 })).receipts.map(({ key }) => key)
}

async function pattern(seed: number): Promise<string> {
  const store = faultyStore(memoryStore(), { seed, faults: [{ kind: 'refused', probability: 0.3 }] })
  const calls = Array.from(
    { length: 200 },
    async () =>
      await store.get([]).then(
        () => '.',
        () => 'x',
      ),
  )
  return (await Promise.all(calls)).join('')
}

describe('a fault', () => {
  const plans: Readonly<Record<string, { plan: FaultPlan; kept: readonly string[] }>> = {
    'refused is not carried out': { plan: { faults: [{ kind: 'refused', verbs: ['claim'] }] }, kept: [] },
    'lost is carried out': { plan: { faults: [{ kind: 'lost', verbs: ['claim'] }] }, kept: ['a', 'b', 'c'] },
    'half is carried out in part': {
      plan: { faults: [{ kind: 'half', verbs: ['claim'] }] },
      kept: ['a', 'b'],
    },
  }
  for (const [name, { plan, kept }] of Object.entries(plans)) {
    it(`${name}, and the call is rejected`, async () => {
      const store = faultyStore(memoryStore(), plan)
      await expect(store.claim([draft('a'), draft('b'), draft('c')])).rejects.toThrow('injected')
      expect(store.injected).toBe(1)
      expect(await keys(store)).toEqual(kept)
    })
  }

  it('of time comes before the work, or after it', async () => {
    const steps: string[] = []
    const inner = memoryStore()
    const pause = async (ms: number): Promise<void> => void steps.push(`pause ${ms}`)
    const faults = [
      { kind: 'delayed', verbs: ['claim'], calls: [1], ms: 7 },
      { kind: 'late', verbs: ['claim'], calls: [2], ms: 9 },
    ] as const
    const logging = {
      ...inner,
      claim: async (wanted: readonly Draft[]) => (steps.push('claim'), await inner.claim(wanted)),
    }
    const store = faultyStore(logging, { faults, pause })
    await store.claim([draft('a')])
    await store.claim([draft('b')])
    expect(steps).toEqual(['pause 7', 'claim', 'claim', 'pause 9'])
  })

  it('by chance comes again with the same seed, and not with another', async () => {
    expect(await pattern(7)).toBe(await pattern(7))
    expect(await pattern(7)).not.toBe(await pattern(8))
    const share = (await pattern(7)).split('x').length - 1
    expect(share).toBeGreaterThan(30)
    expect(share).toBeLessThan(90)
  })

  it('of the whole store lasts until the outage ends', async () => {
    const store = faultyStore(memoryStore())
    await store.get([])
    store.startOutage()
    for (const call of [store.get([]), store.claim([]), store.check(), store.transact?.(async () => {})]) {
      await expect(call).rejects.toThrow('injected')
    }
    store.endOutage()
    expect(await store.claim([draft('a')])).toMatchObject([{ won: true }])
    expect([store.calls('get'), store.calls('claim')]).toEqual([2, 2])
  })
})

describe('an engine over a faulty store', () => {
  it('[R12] does not run the effect while the store is out', async () => {
    const store = faultyStore(memoryStore())
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    let effects = 0
    store.startOutage()
    await expect(ibid.once({ scope: 's', key: 'k' }, () => ++effects)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retriable: true,
    })
    expect(effects).toBe(0)
    store.endOutage()
    expect((await ibid.once({ scope: 's', key: 'k' }, () => ++effects)).value).toBe(1)
    await ibid.close()
  })

  it('[R61] runs the effect once when answers get lost, and when they come late', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const faults = [
        { kind: 'lost', verbs: ['claim', 'swap'], probability: 0.2 },
        { kind: 'half', verbs: ['claim', 'swap'], probability: 0.1 },
        { kind: 'late', probability: 0.2, ms: 1 },
      ] as const
      const store = faultyStore(memoryStore(), { seed, faults })
      const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, cache: false })
      const effects = new Map<string, number>()
      const told = new Map<string, Set<unknown>>()
      const calls = Array.from({ length: 40 }, async (_, i) => {
        const key = `k${i % 8}`
        const effect = (): number => {
          effects.set(key, (effects.get(key) ?? 0) + 1)
          return i
        }
        const { value } = await ibid.once({ scope: 's', key }, effect, { wait: '5s' })
        told.set(key, (told.get(key) ?? new Set()).add(value))
      })
      const refused = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected')
      const twice = [...effects.values()].filter((times) => times !== 1)
      const divided = [...told.values()].filter((values) => values.size !== 1)
      expect({ seed, twice, divided }).toEqual({ seed, twice: [], divided: [] })
      expect(refused.length).toBeLessThan(calls.length)
      await ibid.close()
    }
  })
})

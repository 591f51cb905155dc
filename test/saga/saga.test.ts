/** Sagas on their way forward: what is written down before a step runs, and what a resumed one finds. */
import { once } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StepAttempt } from '../../src/guards/saga/index.js'
import { deriveKey } from '../../src/key/index.js'
import { type Bench, bench } from './bench.js'

let at: Bench
beforeEach(() => {
  at = bench()
})

describe('a step', () => {
  test('[R39] is done once, and its result is given again to a saga that is resumed', async () => {
    expect(await at.saga().step(at.step('charge'))).toBe('charge!')
    expect(await at.saga().step(at.step('charge'))).toBe('charge!')
    expect(at.effects).toEqual(['do charge'])
  })

  test('[R39] has the key of its undo in the store before it runs', async () => {
    const ibid = at.open()
    let found: unknown
    const charge = at.step('charge', {
      topic: 'billing',
      capability: 'payments.charge',
      input: { amount: 10 },
      async do() {
        found = await ibid.get({ scope: 'saga-plan:wf/job', key: 'step:charge' })
      },
    })
    await at.saga({ ibid, jobId: 'job' }).step(charge)
    const parts = {
      workflow: 'wf',
      job: 'job',
      topic: 'billing',
      capability: 'payments.charge',
      step: 'charge',
    }
    const undoKey = deriveKey({ tenant: 'acme', layer: 'saga-undo', ...parts }, null)
    expect(found).toMatchObject({ state: 'succeeded', value: { undoKey, input: { amount: 10 } } })
  })

  test('[R39] undoes under the key that was written down, and does under another', async () => {
    const keys: string[] = []
    const ibid = at.open()
    const charge = at.step('charge', {
      do: ({ key }) => void keys.push(key),
      undo: (_result, { key }) => void keys.push(key),
    })
    await at.saga({ ibid }).step(charge)
    await at.saga({ steps: [charge] }).compensate()
    const plan = await ibid.get({ scope: 'saga-plan:wf', key: 'step:charge' })
    expect(plan?.value).toMatchObject({ doKey: keys[0], undoKey: keys[1] })
    expect(new Set(keys).size).toBe(2)
  })

  test('[R14] is told by its signal when its time is up, and so is its undo', async () => {
    const told: string[] = []
    const untilAborted =
      (name: string) =>
      async ({ signal }: StepAttempt): Promise<void> => {
        await once(signal, 'abort')
        told.push(name)
      }
    const slow = at.step('slow', {
      do: untilAborted('do'),
      undo: async (_result, step) => await untilAborted('undo')(step),
      policy: { timeout: 20 },
      undoPolicy: { timeout: 20 },
    })
    await expect(at.saga().step(slow)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    const quick = at.step('slow', { undo: slow.undo.bind(slow), undoPolicy: { timeout: 20 } })
    await at.saga({ jobId: 'two' }).step(quick)
    await at.saga({ jobId: 'two', steps: [quick] }).compensate()
    expect(told).toEqual(['do', 'undo'])
  })

  test('[R39] has another undo key in another workflow, job, topic, capability or step', async () => {
    const keys = new Set<string>()
    const undo = (_: unknown, { key }: { readonly key: string }): void => void keys.add(key)
    for (const ids of [{}, { workflowId: 'other' }, { jobId: 'wf' }, { tenant: 'globex' }]) {
      for (const more of [{}, { topic: 'charge' }, { capability: 'charge' }]) {
        const saga = at.saga({ ...ids, jobId: `${ids.jobId ?? 'job'}${JSON.stringify(more)}` })
        await saga.step(at.step('charge', { ...more, undo }))
        await saga.step(at.step('book', { ...more, undo }))
        await saga.compensate()
      }
    }
    expect(keys.size).toBe(24)
  })

  test('[R4] with another input under the same name is refused, and does nothing', async () => {
    await at.saga().step(at.step('charge', { input: { amount: 10 } }))
    const other = at.saga().step(at.step('charge', { input: { amount: 11 } }))
    await expect(other).rejects.toMatchObject({ code: 'KEY_REUSED' })
    expect(at.effects).toEqual(['do charge'])
  })

  test('[R39] that may have happened before the window was over is not refused after it, but undone', async () => {
    const charge = at.step('charge', {
      policy: { recovery: 'retry' },
      do({ number }) {
        at.effects.push(`do charge, attempt ${number}`)
        if (number === 1) throw new TypeError('connection reset')
        return 'ch_1'
      },
    })
    const saga = at.saga({ window: '1h' })
    await expect(saga.step(charge)).rejects.toThrow('connection reset')
    at.clock.advance(3_700_000)
    await expect(saga.step(charge)).rejects.toMatchObject({
      code: 'SAGA_EXPIRED',
      message: expect.stringContaining('may have happened before') as string,
    })
    expect(await saga.compensate()).toMatchObject({ complete: true, undone: [{ step: 'charge' }] })
    expect(at.effects).toEqual(['do charge, attempt 1', 'do charge, attempt 3', 'undo charge ch_1'])
  })

  test('that would start after the window of its plan does nothing', async () => {
    const planned = at.saga({ window: '1h' }).step(
      at.step('charge', {
        do() {
          throw Object.assign(new TypeError('not now'))
        },
        check: () => ({ found: false }),
      }),
    )
    await expect(planned).rejects.toThrow('not now')
    at.clock.advance(3_600_001)
    const late = at.saga({ window: '1h' }).step(at.step('charge', { check: () => ({ found: false }) }))
    await expect(late).rejects.toMatchObject({ code: 'SAGA_EXPIRED', retriable: false })
    expect(at.effects).toEqual([])
  })

  test.each([
    ['no name', { name: '' }],
    ['a name that is too long', { name: 'n'.repeat(201) }],
    ['no undo', { undo: undefined as never }],
    ['no do', { do: undefined as never }],
    [
      'a check and a recovery',
      { check: () => ({ found: false as const }), policy: { recovery: 'retry' as const } },
    ],
    ['a window of its own', { policy: { window: '1h' } as never }],
    ['an input too large for its plan', { input: 'x'.repeat(70_000) }],
  ])('with %s is refused before anything is written', async (_what, more) => {
    const ibid = at.open()
    const refused = at.saga({ ibid }).step(at.step('charge', more))
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INTENT' })
    expect((await ibid.list()).receipts).toEqual([])
  })

  test.each([
    ['workflowId', ''],
    ['workflowId', 7 as never],
    ['jobId', ''],
  ])('%s %j is refused', (field, id) => {
    expect(() => at.saga({ [field]: id })).toThrowError(
      expect.objectContaining({ code: 'INVALID_INTENT' }) as Error,
    )
  })

  test('finds its plan under names that are too long for a scope', async () => {
    const workflowId = 'w'.repeat(400)
    await at.saga({ workflowId }).step(at.step('charge'))
    expect(await at.saga({ workflowId, steps: [at.step('charge')] }).compensate()).toMatchObject({
      complete: true,
    })
    expect(at.effects).toEqual(['do charge', 'undo charge charge!'])
  })
})

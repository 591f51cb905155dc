/** What the effect itself says about how it ended: refused for good, nothing done, or unknown. */
import { expect, test } from 'vitest'
import { IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../src/index.js'
import { bench, failure, INTENT } from './bench.js'

test('[R5, R9] Rejected is stored, and every duplicate gets the same refusal without running', async () => {
  const on = bench()
  const ibid = on.open()
  let runs = 0
  const effect = (): never => {
    runs++
    throw new Rejected('the card is closed', {
      code: 'CARD_CLOSED',
      action: 'use another card',
      data: { at: 3 },
    })
  }
  const first = await failure(ibid.once(INTENT, effect))
  expect(first).toMatchObject({ code: 'CARD_CLOSED', replayed: false, receipt: { state: 'failed' } })
  for (const again of [ibid, on.open()]) {
    const error = await failure(again.once(INTENT, effect))
    expect(error).toBeInstanceOf(Rejected)
    expect(error).toMatchObject({
      code: 'CARD_CLOSED',
      message: 'the card is closed',
      action: 'use another card',
      data: { at: 3 },
      retriable: false,
      replayed: true,
    })
  }
  expect(runs).toBe(1)
})

test('[R9] NotExecuted gives the key back: the same call runs again, as the same attempt', async () => {
  const on = bench()
  const ibid = on.open()
  const error = await failure(ibid.once(INTENT, () => Promise.reject(new NotExecuted('queue full'))))
  expect(error).toMatchObject({ code: 'NOT_EXECUTED', retriable: true, receipt: { state: 'released' } })
  const done = await ibid.once(INTENT, ({ number, epoch }) => ({ number, epoch }))
  expect(done).toMatchObject({ replayed: false, receipt: { attempt: 1, state: 'succeeded' } })
  expect(done.value.epoch).toBeGreaterThan((error.receipt as unknown as { epoch: number }).epoch)
})

test('[R4, R9] a key that was given back still belongs to its payload', async () => {
  const on = bench()
  const ibid = on.open()
  await failure(ibid.once(INTENT, () => Promise.reject(new NotExecuted('queue full'))))
  const error = await failure(ibid.once({ ...INTENT, payload: 'other' }, () => 'no'))
  expect(error.code).toBe('KEY_REUSED')
})

test.each(['hold', 'retry', 'check'] as const)(
  '[R9] OutcomeUnknown is held, whatever the policy is: %s',
  async (name) => {
    const on = bench()
    const ibid = on.open()
    let checks = 0
    const check = (): { found: 'unclear' } => {
      checks++
      return { found: 'unclear' }
    }
    const policy = { recovery: name === 'check' ? { check } : name } as const
    const error = await failure(
      ibid.once(INTENT, () => Promise.reject(new OutcomeUnknown('timeout after send')), policy),
    )
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', retriable: false, receipt: { state: 'unknown' } })
    expect(checks).toBe(0)
    const again = await failure(ibid.once(INTENT, () => 'no', name === 'check' ? policy : {}))
    expect(again.code).toBe('OUTCOME_UNKNOWN')
  },
)

test('[R4] another payload is a conflict in every state', async () => {
  const on = bench()
  const ibid = on.open()
  const states = {
    succeeded: () => 'done',
    failed: () => Promise.reject(new Rejected('no')),
    released: () => Promise.reject(new NotExecuted('no')),
    unknown: () => Promise.reject(new OutcomeUnknown('no')),
  }
  for (const [state, effect] of Object.entries(states)) {
    const intent = { ...INTENT, key: state }
    await ibid.once(intent, effect).catch(() => undefined)
    expect((await ibid.get(intent))?.state).toBe(state)
    for (const engine of [ibid, on.open()]) {
      let runs = 0
      const error = await failure(engine.once({ ...intent, payload: { other: 1 } }, () => ++runs))
      expect(error, state).toMatchObject({ code: 'KEY_REUSED', retriable: false, receipt: { state } })
      expect(runs).toBe(0)
    }
  }
})

test('[R9, R14] a LEASE_LOST from further down is the trouble of the effect, not the end of this attempt', async () => {
  const on = bench()
  const ibid = on.open()
  const below = new IbidError('lost', { code: 'LEASE_LOST', retriable: true, action: 'again' })
  const error = await failure(ibid.once(INTENT, () => Promise.reject(below)))
  expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: below, receipt: { state: 'unknown' } })
})

test('[R9] a refusal that is frozen, or used for two keys, tells each caller of its own receipt', async () => {
  const ibid = bench().open()
  const frozen = Object.freeze(new Rejected('no', { code: 'NO' }))
  const first = await failure(ibid.once(INTENT, () => Promise.reject(frozen)))
  expect(first).toBeInstanceOf(Rejected)
  expect(first).toMatchObject({ code: 'NO', message: 'no', replayed: false, receipt: { state: 'failed' } })
  expect(first.stack).toBe(frozen.stack)
  const shared = new Rejected('no')
  const [a, b] = [
    { ...INTENT, key: 'a' },
    { ...INTENT, key: 'b' },
  ]
  const errors = [
    await failure(ibid.once(a, () => Promise.reject(shared))),
    await failure(ibid.once(b, () => Promise.reject(shared))),
  ]
  expect(errors.map(({ receipt }) => (receipt as unknown as { key: string }).key)).toEqual(['a', 'b'])
})

test('[R5] a refusal that an effect lets through from another action is no replay of its own', async () => {
  const ibid = bench().open()
  const inner = (): Promise<unknown> =>
    ibid.once({ ...INTENT, key: 'inner' }, () => Promise.reject(new Rejected('no')))
  await failure(inner())
  const outer = await failure(ibid.once({ ...INTENT, key: 'outer' }, inner))
  expect(outer).toMatchObject({ replayed: false, receipt: { key: 'outer' } })
})

test.each([
  ['that has no text', Object.assign(new TypeError('x'), { message: Symbol('x') })],
  ['that cannot even be asked what it is', revoked()],
])('[R9] something thrown %s is as ambiguous as a crash', async (_, thrown) => {
  const on = bench()
  const ibid = on.open()
  const effect = (): never => {
    throw thrown
  }
  expect(await failure(ibid.once(INTENT, effect))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect((await ibid.get(INTENT))?.state).toBe('unknown')
  const other = { ...INTENT, key: 'transacted' }
  await failure(ibid.transact(other, effect))
  expect((await ibid.transact(other, () => 'done')).value).toBe('done')
})

function revoked(): Error {
  const { proxy, revoke } = Proxy.revocable(new TypeError('x'), {})
  revoke()
  return proxy
}

/** Status checks: of a held receipt, and of a takeover, which may take longer than its lease. */
import { describe, expect, test } from 'vitest'
import { type Attempt, type CheckResult, OutcomeUnknown } from '../../src/index.js'
import { bench, type Bench, checking, failure, INTENT, leaveBehind, seen, turn } from './bench.js'

const LEASE = { lease: '1s', maxAttempts: 3 } as const
const unclear = { found: 'unclear' } as const

const doubt = (): Promise<never> => Promise.reject(new OutcomeUnknown('who knows'))

async function held(): Promise<Bench> {
  const on = bench()
  await failure(on.open().once(INTENT, doubt))
  return on
}

describe('[R7] a held receipt, met by a caller with a check', () => {
  test('[R7, R14] found: resolved by the check, and everybody has the value', async () => {
    const on = await held()
    const { policy } = checking(() => ({ found: true, value: 'seen' }))
    expect(await on.open().once(INTENT, () => 'no', policy)).toMatchObject({ value: 'seen', replayed: true })
    const last = (await on.open().history(INTENT)).filter(({ event }) => event === 'resolved')
    expect(last).toMatchObject([{ by: 'check', why: 'found downstream' }])
  })

  test('[R7] not found: given back and run', async () => {
    const on = await held()
    const { policy } = checking(() => ({ found: false }))
    expect((await on.open().once(INTENT, () => 'ran', policy)).value).toBe('ran')
  })

  test('[R7, R14] not found, and no attempt is left: it stays held for a person', async () => {
    const on = bench()
    await failure(on.open().once(INTENT, doubt, { maxAttempts: 1 }))
    const { policy } = checking(() => ({ found: false }))
    const error = await failure(on.open().once(INTENT, () => 'no', policy))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(error.message).toMatch(/found nothing, but all 1 attempts are used up/)
    expect((await on.open().get(INTENT))?.state).toBe('unknown')
  })

  test('[R7] unclear: it stays held', async () => {
    const on = await held()
    const { policy } = checking(() => unclear)
    expect((await failure(on.open().once(INTENT, () => 'no', policy))).code).toBe('OUTCOME_UNKNOWN')
  })

  test('[R7, R14] a check that hangs has the time of the call, and is then ended and unclear', async () => {
    const on = await held()
    const ibid = on.open()
    let signal: AbortSignal | undefined
    const check = (attempt: Attempt): Promise<CheckResult<never>> => {
      signal = attempt.signal
      return new Promise(() => {})
    }
    const late = seen(ibid.once(INTENT, () => 'no', { timeout: '5s', recovery: { check } }))
    await on.time.pass(4_999)
    expect(late.now.state).toBe('waiting')
    expect(signal?.aborted).toBe(false)
    await on.time.pass(1)
    expect(late.now).toMatchObject({ state: 'failed', error: { code: 'OUTCOME_UNKNOWN' } })
    expect(signal?.reason).toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      message: expect.stringMatching(/^the status check did not end within 5000 ms/) as string,
    })
    expect((await ibid.get(INTENT))?.state).toBe('unknown')
    await ibid.close()
    expect(on.time.armed).toBe(0)
  })

  test('[R7] a check that answers in time leaves no timer behind', async () => {
    const on = await held()
    const { policy } = checking(() => ({ found: true, value: 'seen' }))
    await on.open().once(INTENT, () => 'no', policy)
    await on.time.pass(1_000)
    expect(on.time.armed).toBe(0)
  })

  test('[R12] a store that is away while the check is written down: a structured error, nothing ran', async () => {
    const on = await held()
    const { policy } = checking(() => ({ found: true, value: 1 }))
    const ibid = on.open()
    on.tap.failBefore('swap')
    expect((await failure(ibid.once(INTENT, () => 'no', policy))).code).toBe('STORE_UNAVAILABLE')
  })
})

test('[R8] a lease that was lost while the check was asked: the effect does not start', async () => {
  const on = bench()
  const answers: ((found: CheckResult<never>) => void)[] = []
  const check = (): Promise<CheckResult<never>> => new Promise((resolve) => void answers.push(resolve))
  await leaveBehind(on, { ...LEASE, recovery: { check } })
  await on.time.pass(1_000)
  const slow = on.worker()
  let runs = 0
  const second = seen(slow.ibid.once(INTENT, () => ++runs, { ...LEASE, recovery: { check } }))
  await turn()
  // It sleeps over its lease, and a third one takes over and finishes.
  on.time.clock.advance(1_000)
  const found = { check: (): CheckResult<never> => ({ found: false }) }
  const policy = { ...LEASE, recovery: found }
  const third = await on.open({ timers: on.time.worker().timers }).once(INTENT, () => 'third', policy)
  expect(third.value).toBe('third')
  answers[0]?.({ found: false })
  await on.time.pass(100)
  expect(second.now).toMatchObject({ state: 'failed', error: { code: 'LEASE_LOST' } })
  expect(runs).toBe(0)
})

test('[R7, R8] a check that answers after the time was up: the effect does not start any more', async () => {
  const on = bench()
  const answers: ((found: CheckResult<never>) => void)[] = []
  const check = (): Promise<CheckResult<never>> => new Promise((resolve) => answers.push(resolve))
  const policy = { lease: '30s', timeout: '5s', recovery: { check } } as const
  await leaveBehind(on, policy)
  await on.time.pass(30_000)
  let runs = 0
  const second = seen(on.open().once(INTENT, () => ++runs, policy))
  await on.time.pass(5_000)
  answers[1]?.({ found: false })
  await turn()
  expect(second.now).toMatchObject({ state: 'failed', error: { code: 'UPSTREAM_TIMEOUT' } })
  answers[0]?.({ found: false })
  await turn()
  expect(runs).toBe(0)
})

test('[R7, R8] the check of a takeover runs under its lease, with the key and the new epoch', async () => {
  let given: unknown
  const recovery = {
    check(attempt: object): CheckResult<never> {
      given = attempt
      return { found: false }
    },
  }
  const on = bench()
  await leaveBehind(on, { ...LEASE, recovery })
  await on.time.pass(1_000)
  const done = await on.open().once(INTENT, () => 'ran', { ...LEASE, recovery })
  await turn()
  expect(given).toMatchObject({ key: INTENT.key, tenant: 'acme', number: 2, epoch: done.receipt.epoch })
})

test('[R7, R8] a claim that was lost, held and released has a new token, unknown to a check of before', async () => {
  const on = bench()
  const ibid = on.open({ cache: false })
  const other = on.open({ store: on.inner, cache: false })
  await ibid.once({ ...INTENT, key: 'warm' }, () => 0)
  // Its first claim is made and not answered, and what would regain it is on its way until the lease is over.
  on.tap.failAfter('claim')
  const door = on.tap.hold('swap')
  let runs = 0
  const effect = (): never => {
    runs++
    throw new OutcomeUnknown('the line went dead')
  }
  const absent = checking(() => ({ found: false }))
  const lost = seen(ibid.once(INTENT, effect, { ...absent.policy, lease: '1s', window: '2s' }))
  await on.time.pass(100)
  expect(door.waiting).toBe(1)
  await on.time.pass(4_000)
  await other.sweep()
  expect(await other.get(INTENT)).toMatchObject({ state: 'unknown' })
  // Somebody asks the check, which takes its time; meanwhile the first call goes on, and its effect happens.
  const answers: ((answer: CheckResult<unknown>) => void)[] = []
  const check = (): Promise<CheckResult<unknown>> => new Promise((resolve) => answers.push(resolve))
  const asking = seen(other.once<unknown>(INTENT, effect, { recovery: { check }, lease: '1s', window: '2s' }))
  await turn()
  door.let()
  await on.time.pass(100)
  expect(lost.now).toMatchObject({ state: 'failed', error: { code: 'OUTCOME_UNKNOWN' } })
  expect([runs, answers.length]).toEqual([1, 1])
  const after = await other.get(INTENT)
  answers[0]?.({ found: false })
  await on.time.pass(100)
  expect(await other.get(INTENT)).toEqual(after)
  answers[1]?.({ found: true, value: 'done' })
  await on.time.pass(100)
  expect(asking.now).toMatchObject({ state: 'done', value: { value: 'done' } })
  expect(runs).toBe(1)
})

/** What happens to an attempt whose outcome nobody reported: the declared policy, and never silent repetition. */
import { describe, expect, test } from 'vitest'
import type { CheckResult, Policy } from '../../src/index.js'
import { bench, type Bench, checking, failure, INTENT, leaveBehind, manual, seen, within } from './bench.js'

const LEASE = { lease: '1s', maxAttempts: 3 } as const
const unclear = { found: 'unclear' } as const

async function lapsed(policy: Policy): Promise<Bench> {
  const on = bench()
  await leaveBehind(on, policy)
  await on.time.pass(1_000)
  return on
}

describe('[R7] a lapsed lease', () => {
  test('[R7] hold, the default: held for a person, and nothing runs', async () => {
    const on = await lapsed({ lease: '1s' })
    const ibid = on.open()
    const error = await failure(ibid.once(INTENT, () => 'no'))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', retriable: false, receipt: { state: 'unknown' } })
    expect(error.message).toMatch(/its policy is to hold for a person/)
    // A later caller cannot loosen it.
    expect((await failure(ibid.once(INTENT, () => 'no', { recovery: 'retry' }))).code).toBe('OUTCOME_UNKNOWN')
  })

  test('[R7] hold: a later caller who declares retry cannot run it either', async () => {
    const on = await lapsed({ lease: '1s' })
    const error = await failure(on.open().once(INTENT, () => 'no', { recovery: 'retry' }))
    expect(error.code).toBe('OUTCOME_UNKNOWN')
  })

  test('[R7] retry: runs again under a new attempt and a higher epoch, and the receipt says so', async () => {
    const on = await lapsed({ ...LEASE, recovery: 'retry' })
    const before = await on.open().get(INTENT)
    const done = await on.open().once(INTENT, ({ number, epoch }) => ({ number, epoch }), {
      ...LEASE,
      recovery: 'retry',
    })
    expect(done.receipt).toMatchObject({ attempt: 2, state: 'succeeded' })
    expect(done.value).toEqual({ number: 2, epoch: done.receipt.epoch })
    expect(done.receipt.epoch).toBeGreaterThan(before?.epoch as number)
    expect(done.receipt.createdAt).toBe(before?.createdAt)
  })

  test('[R7] retry, then a caller who says hold: the stricter one counts', async () => {
    const on = await lapsed({ ...LEASE, recovery: 'retry' })
    const error = await failure(on.open().once(INTENT, () => 'no', { recovery: 'hold' }))
    expect(error.code).toBe('OUTCOME_UNKNOWN')
    expect(error.message).toMatch(/this caller may not repeat it/)
  })

  test('[R7, R14] retry: when the attempts are used up a person is asked', async () => {
    const on = bench()
    const policy = { ...LEASE, recovery: 'retry' } as const
    for (let i = 0; i < 3; i++) {
      await leaveBehind(on, policy)
      await on.time.pass(1_000)
    }
    const error = await failure(on.open().once(INTENT, () => 'no', policy))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', receipt: { attempt: 3, state: 'unknown' } })
    expect(error.message).toMatch(/all 3 attempts are used up/)
  })

  test('[R7] check: found downstream, so nothing runs and the found value is the result', async () => {
    const { policy, asked } = checking(() => ({ found: true, value: 're_7' }))
    const on = await lapsed(policy)
    const done = await on.open().once(INTENT, () => 'no', policy)
    expect(done).toMatchObject({ value: 're_7', replayed: true, receipt: { state: 'succeeded', attempt: 2 } })
    expect(asked).toEqual([2])
    expect((await on.open().once(INTENT, () => 'no')).value).toBe('re_7')
  })

  test('[R7] check: not found, so it runs', async () => {
    const { policy, asked } = checking(() => ({ found: false }))
    const on = await lapsed(policy)
    expect(await on.open().once(INTENT, () => 'ran', policy)).toMatchObject({ value: 'ran', replayed: false })
    expect(asked).toEqual([2])
  })

  test.each([
    ['unclear', (): CheckResult<unknown> => unclear],
    [
      'throwing',
      (): CheckResult<unknown> => {
        throw new TypeError('downstream is away')
      },
    ],
    ['senseless', (): CheckResult<unknown> => 'yes' as never],
    ['empty', (): CheckResult<unknown> => undefined as never],
  ])('[R7] check: an %s answer tells nothing, so it is held', async (_name, answer) => {
    const { policy } = checking(answer)
    const on = await lapsed(policy)
    const error = await failure(on.open().once(INTENT, () => 'no', policy))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', receipt: { state: 'unknown' } })
    expect(error.message).toMatch(/the status check could not tell/)
  })

  test('[R7] check, then a caller without a check: held, not run', async () => {
    const on = await lapsed(checking(() => ({ found: false })).policy)
    const error = await failure(on.open().once(INTENT, () => 'no', { recovery: 'retry' }))
    expect(error.code).toBe('OUTCOME_UNKNOWN')
  })
})

describe('[R9] an error that nobody classified is as ambiguous as a crash', () => {
  const boom = new TypeError('socket hang up')
  const fail = (): Promise<never> => Promise.reject(boom)

  test('[R9] hold: held, with the reason and the cause', async () => {
    const on = bench()
    const ibid = on.open()
    const error = await failure(ibid.once(INTENT, fail))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', receipt: { state: 'unknown' } })
    expect(error.message).toMatch(/socket hang up/)
    expect(error.cause).toBe(boom)
    expect((await failure(ibid.once(INTENT, () => 'no'))).code).toBe('OUTCOME_UNKNOWN')
  })

  test('[R9] retry: the caller gets the error itself, and the next call runs at once', async () => {
    const on = bench()
    const ibid = on.open()
    const policy = { ...LEASE, recovery: 'retry' } as const
    expect(await failure(ibid.once(INTENT, fail, policy))).toBe(boom)
    expect(await failure(ibid.once(INTENT, fail, policy))).toBe(boom)
    const done = await ibid.once(INTENT, ({ number }) => number, policy)
    expect(done).toMatchObject({ value: 3, receipt: { attempt: 3 } })
  })

  test('[R9, R14] retry: the last attempt that fails is held', async () => {
    const on = bench()
    const ibid = on.open()
    const policy = { ...LEASE, recovery: 'retry', maxAttempts: 2 } as const
    await failure(ibid.once(INTENT, fail, policy))
    const error = await failure(ibid.once(INTENT, fail, policy))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', receipt: { attempt: 2, state: 'unknown' } })
  })

  test('[R9] check: found means that it happened all the same, and the caller gets the value', async () => {
    const on = bench()
    const { policy, asked } = checking(() => ({ found: true, value: 'there' }))
    expect(await on.open().once(INTENT, fail, policy)).toMatchObject({ value: 'there', replayed: false })
    expect(asked).toEqual([1])
  })

  test('[R9] check: not found gives the key back, and the caller gets the error', async () => {
    const on = bench()
    const ibid = on.open()
    const { policy } = checking(() => ({ found: false }))
    expect(await failure(ibid.once(INTENT, fail, policy))).toBe(boom)
    expect((await ibid.get(INTENT))?.state).toBe('released')
    expect((await ibid.once(INTENT, () => 'now', policy)).value).toBe('now')
  })

  test('[R9] check: unclear is held', async () => {
    const on = bench()
    const ibid = on.open()
    const { policy } = checking(() => unclear)
    expect((await failure(ibid.once(INTENT, fail, policy))).code).toBe('OUTCOME_UNKNOWN')
    expect((await ibid.get(INTENT))?.state).toBe('unknown')
  })
})

describe('[R7] an effect whose time is up', () => {
  test('[R7] retry: the caller is told of the timeout, and the next call runs as attempt 2', async () => {
    const on = bench()
    const ibid = on.open()
    const policy = { ...LEASE, timeout: '5s', recovery: 'retry' } as const
    const hung = await failure(within(on, ibid.once(INTENT, manual().effect, policy), 5_000))
    expect(hung).toMatchObject({ code: 'UPSTREAM_TIMEOUT', retriable: false })
    expect((await ibid.once(INTENT, ({ number }) => number, policy)).value).toBe(2)
  })

  test('[R7] check: not found yet is not for ever: the next attempt asks again before it runs', async () => {
    const on = bench()
    const ibid = on.open()
    const answers: CheckResult<never>[] = [{ found: false }, { found: true, value: 'landed late' as never }]
    const { policy, asked } = checking(() => answers.shift() ?? unclear)
    const late = { ...policy, timeout: '5s' } as const
    const hung = await failure(within(on, ibid.once(INTENT, manual().effect, late), 5_000))
    expect(hung.code).toBe('UPSTREAM_TIMEOUT')
    expect(await ibid.once(INTENT, () => 'no', late)).toMatchObject({ value: 'landed late', replayed: true })
    expect(asked).toEqual([1, 2])
  })

  test.each([
    ['found', { found: true, value: 'landed' } as const, 'succeeded'],
    ['not found', { found: false } as const, 'pending'],
    ['unclear', unclear, 'unknown'],
  ])('[R7] check: %s decides', async (_name, answer, state) => {
    const on = bench()
    const ibid = on.open()
    const policy = { ...checking(() => answer).policy, timeout: '5s' } as const
    const hung = seen(ibid.once(INTENT, manual().effect, policy))
    await on.time.pass(5_000)
    expect(hung.now.state).toBe(state === 'succeeded' ? 'done' : 'failed')
    expect((await ibid.get(INTENT))?.state).toBe(state)
  })

  test('[R7] a check that hangs has the same time, and is then unclear', async () => {
    const on = bench()
    const policy: Policy = { lease: '1s', timeout: '5s', recovery: { check: () => new Promise(() => {}) } }
    const hung = seen(on.open().once(INTENT, manual().effect, policy))
    await on.time.pass(9_999)
    expect(hung.now.state).toBe('waiting')
    await on.time.pass(1)
    expect(hung.now).toMatchObject({ state: 'failed', error: { code: 'OUTCOME_UNKNOWN' } })
  })
})

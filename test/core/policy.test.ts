import { describe, expect, it } from 'vitest'
import { over, type Policy, readPolicy } from '../../src/core/policy.js'
import { refusal } from '../key/refusal.js'

const check = (): { found: false } => ({ found: false })

it('has defaults that never repeat an effect silently [R7] [R11]', () => {
  expect(readPolicy()).toEqual({
    windowMs: 86_400_000,
    leaseMs: 30_000,
    waitMs: 10_000,
    timeoutMs: 300_000,
    maxAttempts: 5,
    recovery: 'hold',
    check: undefined,
  })
})

it('is what the call declares over what its program does, member by member [R7]', () => {
  const program: Policy = { window: '7d', recovery: 'retry' }
  expect(over(program, undefined)).toBe(program)
  expect(over(undefined, { lease: 1 })).toEqual({ lease: 1 })
  const call = { window: 1, recovery: undefined } as unknown as Policy // what JavaScript callers pass
  expect(over(program, call)).toMatchObject({ window: 1, recovery: 'retry' })
  expect(program.window).toBe('7d')
})

it('counts with what it inherits, the call as well as the program, and takes no prototype for a member [R7]', () => {
  const program = Object.create({ window: '7d' }) as Policy
  expect(over(program, { lease: 1 })).toMatchObject({ window: '7d', lease: 1 })
  const call = Object.create({ recovery: 'hold' }) as Policy
  expect(over({ recovery: 'retry' }, call)).toMatchObject({ recovery: 'hold' })
  const poisoned = JSON.parse('{"__proto__":{"recovery":"retry"}}') as Policy
  expect(refusal(() => over({ window: '7d' }, poisoned)).message).toContain('__proto__')
  expect(refusal(() => over({ window: '7d' }, { windows: 1 } as Policy)).message).toContain('policy.windows')
  const nothing = { window: null } as unknown as Policy
  expect(refusal(() => readPolicy(over({ window: '7d' }, nothing))).message).toContain('policy.window')
})

it('is refused where it is no object, also where the program has one [R7]', () => {
  for (const given of [null, 'retry', 5]) {
    expect(over({ window: '7d' }, given as unknown as Policy)).toBe(given)
    expect(refusal(() => readPolicy(given as unknown as Policy)).message).toMatch('policy is not an object')
  }
})

it('reads what is declared [R7]', () => {
  const policy = {
    window: '7d',
    lease: '1s',
    wait: 0,
    timeout: '2s',
    maxAttempts: 1,
    recovery: { check },
  } as const
  expect(readPolicy(policy)).toEqual({
    windowMs: 604_800_000,
    leaseMs: 1_000,
    waitMs: 0,
    timeoutMs: 2_000,
    maxAttempts: 1,
    recovery: 'check',
    check,
  })
  expect(readPolicy({ recovery: 'retry' }).recovery).toBe('retry')
})

it('takes the least and the most that there is [R7]', () => {
  expect(readPolicy({ window: 1, lease: '1ms', timeout: 1 })).toMatchObject({
    windowMs: 1,
    leaseMs: 1,
    timeoutMs: 1,
  })
  expect(readPolicy({ maxAttempts: 1_000_000 }).maxAttempts).toBe(1_000_000)
})

describe('refuses, naming the field', () => {
  it.each<[unknown, string]>([
    [null, 'policy is not an object'],
    ['retry', 'policy is not an object'],
    [{ retries: 3 }, 'policy.retries is not a policy field'],
    [{ window: 0 }, 'policy.window is zero'],
    [{ lease: '0.4ms' }, 'policy.lease is zero'],
    [{ timeout: '0s' }, 'policy.timeout is zero'],
    [{ wait: -1 }, 'policy.wait is -1'],
    [{ maxAttempts: 0 }, 'policy.maxAttempts is 0'],
    [{ maxAttempts: 1.5 }, 'policy.maxAttempts is 1.5'],
    [{ maxAttempts: 1_000_001 }, 'policy.maxAttempts is 1000001'],
    [{ maxAttempts: 1e9 }, 'policy.maxAttempts is 1000000000'],
    [{ recovery: 'again' }, 'policy.recovery is none of the three'],
    [{ recovery: 'atomic' }, 'policy.recovery is none of the three'],
    [{ recovery: null }, 'policy.recovery is none of the three'],
    [{ recovery: {} }, 'policy.recovery is none of the three'],
  ])('%j [R7]', (policy, message) => {
    expect(refusal(() => readPolicy(policy as Policy)).message).toContain(message)
  })
})

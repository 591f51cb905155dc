/** What the simulation found in the engine, each cut down to the few steps that were enough: none may come back. */
import { expect, test } from 'vitest'
import { runScenario } from '../../src/testing/simulation/index.js'
import { call, fault, world } from './small-worlds.js'

test('[R7] a check finds nothing yet, the effect lands after all: the next caller asks again first', async () => {
  for (const fences of [false, true]) {
    const scenario = world({ policy: 'check', fences }, [
      call('p1', 0, { end: 'lands later' }),
      call('p2', 5_000),
    ])
    const { violation, trace } = await runScenario(scenario, { trace: 'lines' })
    expect(violation).toBeUndefined()
    expect(trace.filter((line) => line.includes('effect of k1 happens'))).toHaveLength(1)
    expect(trace.join('\n')).toMatch(/p2 checks k1: k1\/0\/effect 1/)
  }
})

test('[R3, R8] claim and renewal are answered late: the effect does not start on a lost lease', async () => {
  const scenario = world({ policy: 'check' }, [
    call('p1', 0),
    fault('p1', 'claim', 1, 'late', 1_500),
    fault('p1', 'swap', 1, 'late', 3_000),
    call('p2', 3_000),
  ])
  const { violation, trace } = await runScenario(scenario, { trace: 'lines' })
  expect(violation).toBeUndefined()
  expect(trace.filter((line) => line.includes('effect of k1 happens'))).toHaveLength(1)
  expect(trace.join('\n')).toMatch(/p1's caller of k1 is told LEASE_LOST/)
})

test('[R3, R12] answers that always take longer than the lease: nothing runs, and the key is free', async () => {
  const late = [1, 2, 3, 4].map((number) => fault('p1', 'swap', number, 'late', 700))
  const scenario = world({}, [
    call('p1', 0),
    fault('p1', 'claim', 1, 'late', 700),
    ...late,
    call('p2', 9_000),
  ])
  const { violation, trace } = await runScenario(scenario, { trace: 'lines' })
  expect(violation).toBeUndefined()
  const story = trace.join('\n')
  expect(story).toMatch(/p1's caller of k1 is told STORE_UNAVAILABLE/)
  expect(story).toMatch(/p2's caller of k1 has k1\/0\/effect 1/)
})

test('[R8, R60] a claim that came back under its token is not given back by the call that got no answer', async () => {
  const scenario = world({ leaseMs: 3_000 }, [
    call('p1', 0, { remote: true, retries: 1, effectMs: 2_000 }),
    fault('p1', 'claim', 1, 'lost'),
    fault('p1', 'claim', 2, 'refused'),
    fault('p1', 'claim', 3, 'refused'),
    ...[1, 2, 3].map((number) => fault('p1', 'get', number, 'refused')),
    call('p2', 1_800),
  ])
  const { violation, trace } = await runScenario(scenario, { trace: 'lines' })
  expect(violation).toBeUndefined()
  const story = trace.join('\n')
  expect(story).toMatch(/p2's caller of k1 is told RETRY_IN_FLIGHT/)
  expect(story).toMatch(/p1's caller of k1 has k1\/0\/effect 1/)
})

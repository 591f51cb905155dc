/** Admission: limits per agent and per tenant, the reservation given back, and a fair answer when to come back. */
import { describe, expect, test } from 'vitest'
import { bench, failure, forever, gate } from './bench.js'

const run = (key: string, agent = 'billing', tenant = 'acme') => ({ tenant, agent, key, trigger: key })

async function refused(on: ReturnType<typeof bench>, call: Promise<unknown>): Promise<number> {
  const failed = failure(call)
  await on.time.pass(100)
  const error = await failed
  expect(error).toMatchObject({ code: 'ADMISSION_REJECTED', retriable: true })
  return error.retryAfterMs as number
}

describe('[R43] admission', () => {
  test('[R43] counts each agent of each tenant by itself', async () => {
    const on = bench()
    const { runs } = on.worker({ maxActive: 1 })
    void runs.start(run('a'), forever)
    await on.time.pass(10)
    await refused(
      on,
      runs.start(run('b'), () => 'no'),
    )
    expect(await runs.start(run('b', 'support'), () => 'yes')).toMatchObject({ value: 'yes' })
    expect(await runs.start(run('b', 'billing', 'zeta'), () => 'yes')).toMatchObject({ value: 'yes' })
  })

  test('[R43] counts all agents of a tenant together where it is told to, beside the limit of each', async () => {
    const on = bench()
    const { runs } = on.worker({ maxActive: { perAgent: 2, perTenant: 3 } })
    const { passed, open } = gate<string>()
    const first = runs.start(run('a'), () => passed)
    void runs.start(run('b'), forever)
    await on.time.pass(10)
    await refused(
      on,
      runs.start(run('c'), () => 'no'),
    )
    void runs.start(run('d', 'support'), forever)
    await on.time.pass(10)
    await refused(
      on,
      runs.start(run('e', 'support'), () => 'no'),
    )
    // The slot of the agent that it had taken was given back when the tenant had none.
    open('done')
    await on.time.pass(10)
    await first
    expect(await runs.start(run('e', 'support'), () => 'yes')).toMatchObject({
      value: 'yes',
      replayed: false,
    })
  })

  test('[R43] does not ask for a slot to join a run, or to get its outcome', async () => {
    const on = bench()
    const { runs } = on.worker({ maxActive: 1 })
    const { passed, open } = gate<string>()
    const first = runs.start(run('a'), () => passed)
    await on.time.pass(10)
    const second = runs.start(run('a'), () => 'no')
    await on.time.pass(10)
    open('done')
    await on.time.pass(1_000)
    expect(await first).toMatchObject({ joined: false })
    expect(await second).toMatchObject({ joined: true, value: 'done' })
    void runs.start(run('b'), forever)
    await on.time.pass(10)
    expect(await runs.start(run('a'), () => 'no')).toMatchObject({ replayed: true, value: 'done' })
  })

  test('[R43] tells those who came first to come back first, and whoever is early keeps the place', async () => {
    const on = bench()
    const { runs } = on.worker({ maxActive: 2 })
    void runs.start(run('a'), forever)
    void runs.start(run('b'), forever)
    await on.time.pass(10)
    const waits: number[] = []
    for (const key of ['c', 'd', 'e', 'f'])
      waits.push(
        await refused(
          on,
          runs.start(run(key), () => 'no'),
        ),
      )
    expect(waits).toEqual(waits.toSorted((one, two) => one - two))
    expect(new Set(waits).size).toBe(4)
    expect(
      await refused(
        on,
        runs.start(run('d'), () => 'no'),
      ),
    ).toBe(waits[1])
  })

  test('[R43] learns from the runs it has seen how long a slot is taken', async () => {
    const on = bench()
    const { runs } = on.worker({ maxActive: 1 })
    for (let n = 0; n < 30; n++) {
      const call = runs.start(run(`long-${n}`), (active) => active.sleep('20s'))
      await on.time.pass(21_000)
      await call
    }
    void runs.start(run('a'), forever)
    await on.time.pass(10)
    const waitMs = await refused(
      on,
      runs.start(run('b'), () => 'no'),
    )
    expect(waitMs).toBeGreaterThan(15_000)
    expect(waitMs).toBeLessThan(25_000)
  })

  test('[R43, R8] a run that lost its slot stops at its next step', async () => {
    const on = bench()
    const { runs } = on.worker({ maxActive: 1, policy: { timeout: '1m', lease: '1s' } })
    const steps: number[] = []
    const { passed, open } = gate()
    const call = failure(
      runs.start(run('a'), async (active) => {
        await passed
        await active.step('late', () => steps.push(1))
      }),
    )
    await on.time.pass(10)
    // Somebody takes the slot by force, as the store would let them after a pause longer than the lease.
    const [slot] = (await on.store.scan({ scope: 'slot:billing', limit: 10 })).receipts
    if (!slot) throw new TypeError('there is no slot')
    await on.store.swap([
      {
        expect: { token: slot.token, state: 'pending' },
        next: { ...slot, token: 'another', epoch: null, forMs: 60_000, audit: { event: 'takeover' } },
      },
    ])
    await on.time.pass(2_000)
    open()
    await on.time.pass(10)
    expect(await call).toMatchObject({ code: 'LEASE_LOST' })
    expect(steps).toEqual([])
  })

  test('[R43, R14] a run that lost its worker may wait for a slot for longer than it may work', async () => {
    const on = bench()
    const options = { maxActive: 1, policy: { lease: '1s', timeout: '10s', maxAttempts: 3 } } as const
    const dead = on.worker(options)
    void dead.runs.start(run('a'), forever)
    await on.time.pass(10)
    dead.stop()
    await on.time.pass(1_500)
    const long = on.worker(options)
    void long.runs.start(run('b'), (active) => active.sleep('2m'))
    await on.time.pass(200)
    const { runs } = on.worker(options)
    runs.register('billing', (active) => active.attempt)
    await on.time.pass(60_000)
    expect((await runs.list({ agent: 'billing', state: 'pending' })).runs).toHaveLength(2)
    await on.time.pass(90_000)
    expect(await runs.start(run('a'), () => 'never')).toMatchObject({ value: 2, replayed: true })
  })
})

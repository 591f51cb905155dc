/** A worker that has closed: nothing begins any more, whatever was on its way when it was told to. */
import { describe, expect, test } from 'vitest'
import { bench, dieIn, forever, gate, TRIGGER } from './bench.js'

const HOURLY = { name: 'hourly', cron: '0 * * * *', timeZone: 'UTC' } as const

describe('[R43] when a worker has closed', () => {
  test('[R43] a look for runs that was on its way has taken nothing up', async () => {
    const on = bench()
    await dieIn(on, forever)
    const { ibid } = on.worker()
    const { passed, open } = gate()
    let held = Promise.resolve()
    const slow = {
      ...ibid,
      async list(...query: Parameters<typeof ibid.list>) {
        const page = await ibid.list(...query)
        await held
        return page
      },
    }
    const { runs } = on.worker({ ibid: slow, recoverEvery: false })
    const begun: number[] = []
    runs.register('billing', (run) => begun.push(run.attempt))
    expect(await runs.recover()).toEqual([])
    await on.time.pass(1_000)
    held = passed
    const looking = runs.recover()
    let isClosed = false
    const closed = runs.close().then(() => (isClosed = true))
    await on.time.pass(10)
    expect(isClosed).toBe(false)
    open()
    await on.time.pass(10)
    await closed
    expect(await looking).toEqual([])
    await on.time.pass(10_000)
    expect(begun).toEqual([])
    expect((await runs.list({ agent: TRIGGER.agent })).runs).toMatchObject([{ state: 'pending', attempt: 1 }])
  })

  test('[R43] a schedule that was set up meanwhile begins none of the ticks that were missed', async () => {
    const on = bench(Date.UTC(2030, 5, 1))
    const before = on.worker()
    await before.runs.tick(HOURLY, () => 1)
    before.stop()
    await on.time.jump(2 * 3_600_000)
    const { runs } = on.worker()
    const ended: string[] = []
    const ticking = runs.tick(HOURLY, () => ended.push('tick')).then(() => ended.push('set up'))
    await runs.close().then(() => ended.push('closed'))
    await ticking
    await on.time.pass(3_600_000)
    expect(ended).toEqual(['set up', 'closed'])
  })

  test('code that is registered then is not looked for', async () => {
    const on = bench()
    const { runs } = on.worker()
    await runs.close()
    const { armed } = on.time
    runs.register('billing', forever)
    expect(on.time.armed).toBe(armed)
  })
})

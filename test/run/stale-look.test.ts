/** What a worker saw, and what it makes of it after it stood still until that was forgotten. */
import { beforeEach, describe, expect, test } from 'vitest'
import { createRuns, type Runs } from '../../src/guards/run/index.js'
import { createIbid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { type Bench, bench, dieIn, failure, forever, type Gate, gate, TRIGGER, WHO } from './bench.js'

const QUIET = { policy: { lease: '1s' }, recoverEvery: false, cancelEvery: 0 } as const
const DAY_MS = 86_400_000

describe('[R45] a look for runs without a worker that is older than what is remembered', () => {
  let on: Bench
  let ran: string[]
  let still: Gate | undefined
  /** Stands still between an answer of the store and what it does with it, while `still` is shut. */
  let slow: Runs

  beforeEach(async () => {
    on = bench()
    ran = []
    still = undefined
    const { timers } = on.time.worker()
    const store: Store = Object.assign(Object.create(on.store) as Store, {
      async scan(...[query]: Parameters<Store['scan']>) {
        const page = await on.store.scan(query)
        await still?.passed
        return page
      },
      async get(...[addresses]: Parameters<Store['get']>) {
        const found = await on.store.get(addresses)
        await still?.passed
        return found
      },
    })
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false, timers })
    slow = createRuns({ ibid, timers, ...QUIET })
    slow.register('billing', () => ran.push('by the slow one'))
    await dieIn(on, forever)
    await slow.recover()
    await on.time.pass(1_500)
    still = gate()
  })

  async function othersEndIt(): Promise<void> {
    await on.worker(QUIET).runs.start(TRIGGER, () => ran.push('by another'))
    await on.time.pass(DAY_MS + 1_000)
  }

  test('[R45] does not start anew what somebody else has ended', async () => {
    const look = slow.recover()
    await othersEndIt()
    still?.open()
    await look
    await on.time.pass(10_000)
    expect(ran).toEqual(['by another'])
  })

  test('[R45] nor does one by a person who resumes it', async () => {
    const { runs } = await on.worker(QUIET).runs.list({ agent: 'billing' })
    const resumed = failure(slow.resume(runs[0]?.runId as string, WHO))
    await othersEndIt()
    still?.open()
    expect(await resumed).toMatchObject({ code: 'NO_SUCH_RUN' })
    expect(ran).toEqual(['by another'])
  })

  test('[R45] leaves no later run of the trigger without a worker', async () => {
    const look = slow.recover()
    await othersEndIt()
    await dieIn(on, forever)
    still?.open()
    await look
    await on.time.pass(10_000)
    expect(ran).toEqual(['by another', 'by the slow one'])
    expect((await slow.list({ agent: 'billing' })).runs).toMatchObject([{ state: 'succeeded', attempt: 2 }])
  })
})

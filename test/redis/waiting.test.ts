/** [R6] Waiting duplicates in another process are woken, over reconnects too; messages carry no names. */
import { EventEmitter, once } from 'node:events'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { change, draft, put } from '../../src/testing/store/drafts.js'
import { withRedis } from './bench.js'

const bench = withRedis()

/** Until the listener of `waiter` has heard of a settlement by `settler`: hints may be lost, so it is tried again. */
async function untilTold(settler: Store, waiter: Store, heard: readonly string[]): Promise<string> {
  for (let tried = 1; tried < 100; tried++) {
    const receipt = await put(settler)
    const [lost] = await waiter.claim([draft({ key: receipt.key })])
    expect(lost?.won).toBe(false)
    await settler.swap([change(receipt, 'succeeded')])
    for (let i = 0; i < 20 && !heard.includes(receipt.key); i++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    if (heard.includes(receipt.key)) return receipt.key
  }
  throw new Error('nobody was ever told')
}

describe('hints', () => {
  it('[R6] reach who waits, over either client', async () => {
    const ioredis = new Redis(bench.server.url)
    const nodeRedis = createClient({ url: bench.server.url })
    const impatient = new Redis(bench.server.url, { enableOfflineQueue: false })
    await once(impatient, 'ready')
    for (const connection of [bench.server.url, ioredis, impatient, nodeRedis]) {
      const [settler, waiter] = [bench.open(), bench.open({}, connection)]
      const heard: string[] = []
      waiter.watch?.(({ key }) => heard.push(key))
      // Whoever begins to listen is told at once of all he waits for: what comes after that was published.
      await untilTold(settler, waiter, heard)
      await untilTold(settler, waiter, heard)
      await waiter.close()
    }
    ioredis.disconnect()
    impatient.disconnect()
    nodeRedis.destroy()
  })

  it('come again after the listening connection was lost', async () => {
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    waiter.watch?.(({ key }) => heard.push(key))
    await untilTold(settler, waiter, heard)
    await bench.server.cli('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await untilTold(settler, waiter, heard)
  })

  it('go to no process in which nobody waits', async () => {
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    waiter.watch?.(({ key }) => heard.push(key))
    const receipt = await put(waiter)
    await settler.swap([change(receipt, 'succeeded')])
    const channel = `${bench.prefix}:ended`
    expect(await bench.server.cli('PUBSUB', 'NUMSUB', channel)).toMatch(/\s0\s*$/)
    await untilTold(settler, waiter, heard)
    expect(await bench.server.cli('PUBSUB', 'NUMSUB', channel)).toMatch(/\s1\s*$/)
  })

  it('carry no names, and tell nobody of what he does not wait for', async () => {
    const spy = new Redis(bench.server.url)
    const messages: string[] = []
    spy.on('message', (_channel, message: string) => messages.push(message))
    await spy.subscribe(`${bench.prefix}:ended`)
    const [settler, waiter] = [bench.open(), bench.open()]
    const heard: string[] = []
    waiter.watch?.(({ key }) => heard.push(key))
    const key = await untilTold(settler, waiter, heard)
    const other = await put(settler)
    await settler.swap([change(other, 'failed')])
    await spy.ping()
    expect(messages.length).toBeGreaterThan(1)
    expect(messages.join()).not.toContain(key)
    expect(heard).not.toContain(other.key)
    spy.disconnect()
  })

  it('[R6] wake a waiting duplicate of another engine', async () => {
    const [here, there] = [bench.open(), bench.open()].map((store) =>
      createIbid({ store, tenant: 'acme', housekeeping: false }),
    ) as [ReturnType<typeof createIbid>, ReturnType<typeof createIbid>]
    const intent = { scope: 'pay', key: 'once', payload: 1 }
    const steps = new EventEmitter()
    const running = once(steps, 'running')
    const first = here.once(intent, async () => {
      const finished = once(steps, 'finish')
      steps.emit('running')
      await finished
      return 'paid'
    })
    await running
    const second = there.once(intent, () => 'never', { wait: '30s' })
    steps.emit('finish')
    expect([(await first).value, await second]).toMatchObject(['paid', { value: 'paid', replayed: true }])
    await Promise.all([here.close(), there.close()])
  })
})

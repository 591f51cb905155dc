/** Ten thousand clients that wait for ten thousand different results, while others work. */
import { Agent, get } from 'node:http'
import { expect, test } from 'vitest'
import { caller, openHouse } from './bench.js'

const WAITERS = 10_000
const BATCH = 1_000

const where = (i: number) => ({ tenant: 'acme', scope: 'wait', key: `k${i}` })

test(
  '[R6] ten thousand idle waiters are held without trouble: others work meanwhile, and each gets its own result',
  { timeout: 120_000 },
  async () => {
    const house = openHouse()
    const served = await house.serve('--max-wait', '10m')
    const call = caller(served.url, served.key)
    const tokens: string[] = []
    for (let at = 0; at < WAITERS; at += BATCH) {
      const claims = Array.from({ length: BATCH }, (_, i) => ({ ...where(at + i), lease: '10m' }))
      const { body } = await call<{ results: { token: string }[] }>('/v1/claims', { claims })
      tokens.push(...body.results.map((one) => one.token))
    }
    const agent = new Agent({ maxSockets: Infinity })
    const results = Array.from(
      { length: WAITERS },
      (_, i) =>
        new Promise<unknown>((resolve, reject) => {
          const asking = get(
            `${served.url}/v1/receipt?${new URLSearchParams({ ...where(i), wait: '9m' })}`,
            { agent, headers: { authorization: `Bearer ${served.key}` } },
            (answer) => {
              let text = ''
              answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
              answer.on('end', () =>
                resolve((JSON.parse(text) as { receipt: { value: unknown } }).receipt.value),
              )
            },
          )
          asking.on('error', reject)
        }),
    )
    const all = Promise.all(results)
    all.catch(() => {})
    await expect
      .poll(async () => (await call<{ waiters: number }>('/v1/stats')).body.waiters, {
        timeout: 60_000,
        interval: 250,
      })
      .toBe(WAITERS)
    for (let i = 0; i < 50; i++) {
      const { body } = await call<{ token: string }>('/v1/claims', {
        tenant: 'acme',
        scope: 'busy',
        key: `b${i}`,
      })
      expect(
        (await call('/v1/claims/settle', { tenant: 'acme', scope: 'busy', key: `b${i}`, token: body.token }))
          .status,
      ).toBe(200)
    }
    expect((await call<{ waiters: number }>('/v1/stats')).body.waiters).toBe(WAITERS)
    for (let at = 0; at < WAITERS; at += BATCH) {
      const claims = Array.from({ length: BATCH }, (_, i) => ({
        ...where(at + i),
        token: tokens[at + i],
        value: at + i,
      }))
      expect((await call('/v1/claims/settle', { claims })).status).toBe(200)
    }
    expect(await all).toEqual(Array.from({ length: WAITERS }, (_, i) => i))
    expect((await call<{ waiters: number }>('/v1/stats')).body.waiters).toBe(0)
    agent.destroy()
  },
)

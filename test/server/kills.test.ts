/**
 * SIGKILL under load: what was acknowledged is there after the restart, and clients go on with the tokens they
 * have.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openHouse, type Served } from './bench.js'

const ORDERS = 1_500
const RIVALS = 3
const BATCH = 25
const KILLS = 3

interface Item {
  readonly status: number
  readonly token: string
  readonly resumed: boolean
  readonly value?: unknown
}

test(
  '[R8] [R60] [R61] nothing acknowledged is lost over three kills: one owner for each key, every settlement kept',
  { timeout: 120_000 },
  async () => {
    const house = openHouse()
    let served: Served = await house.serve()
    const { port } = new URL(served.url)
    const key = served.key as string
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })

    /** Undefined where the connection broke: what came of it is not known. */
    function post(path: string, body: object): Promise<{ results: Item[] } | undefined> {
      return new Promise((resolve) => {
        const sending = request(
          {
            port,
            host: '127.0.0.1',
            path,
            method: 'POST',
            agent,
            headers: { authorization: `Bearer ${key}` },
          },
          (answer) => {
            let text = ''
            answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
            answer.on('end', () =>
              resolve(answer.statusCode === 200 ? (JSON.parse(text) as { results: Item[] }) : undefined),
            )
            answer.on('error', () => resolve(undefined))
            answer.on('close', () => resolve(undefined))
          },
        )
        sending.on('error', () => resolve(undefined))
        sending.end(JSON.stringify(body))
      })
    }

    async function untilAnswered(path: string, body: object): Promise<readonly Item[]> {
      for (;;) {
        const answer = await post(path, body)
        // One that the store did not answer is asked again, as the problem says.
        if (answer?.results.every((one) => one.status !== 503)) return answer.results
        await sleep(20)
      }
    }

    const owners = new Map<string, string[]>()
    const settled = new Map<string, unknown>()
    let answered = 0

    async function rival(name: number): Promise<void> {
      for (let at = 0; at < ORDERS; at += BATCH) {
        const claims = Array.from({ length: BATCH }, (_, i) => ({
          tenant: 'acme',
          scope: 'refund',
          key: `order-${at + i}`,
          payload: at + i,
          lease: '10m',
          token: randomBytes(16).toString('hex'),
        }))
        const results = await untilAnswered('/v1/claims', { claims })
        const mine = claims.filter((_, i) => results[i]?.status === 201)
        for (const one of mine) owners.set(one.key, [...(owners.get(one.key) ?? []), one.token])
        answered += results.length
        if (mine.length === 0) continue
        const settlements = mine.map(({ tenant, scope, key: order, token }) => ({
          tenant,
          scope,
          key: order,
          token,
          value: { name, order },
        }))
        const done = await untilAnswered('/v1/claims/settle', { claims: settlements })
        done.forEach((one, i) => {
          expect(one.status).toBe(200)
          settled.set(settlements[i]?.key ?? '', settlements[i]?.value)
        })
      }
    }

    const rivals = Promise.all(Array.from({ length: RIVALS }, (_, name) => rival(name)))
    for (let killed = 1; killed <= KILLS; killed++) {
      const enough = (killed * ORDERS * RIVALS) / (KILLS + 1)
      await expect
        .poll(() => answered, { timeout: 60_000, interval: 1 })
        .toBeGreaterThanOrEqual(Math.floor(enough))
      await served.kill()
      served = await house.serve('--port', port)
    }
    await rivals
    expect(owners.size).toBe(ORDERS)
    expect([...owners.values()].filter((tokens) => tokens.length !== 1)).toEqual([])
    expect(settled.size).toBe(ORDERS)
    const asked = Array.from({ length: ORDERS }, (_, i) => ({
      tenant: 'acme',
      scope: 'refund',
      key: `order-${i}`,
      payload: i,
    }))
    for (let at = 0; at < ORDERS; at += 500) {
      const claims = asked.slice(at, at + 500)
      const found = await untilAnswered('/v1/claims', { claims })
      expect(found.map((one) => one.value)).toEqual(claims.map((one) => settled.get(one.key)))
    }
    agent.destroy()
  },
)

/**
 * A redelivery storm on a server process that is killed with SIGKILL and restarted while it lasts: the effect and the
 * receipts are files, the deliveries come over sockets, and each is repeated, as a vendor does, until it is 2xx.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AuditEvent } from '../../src/index.js'
import { ledger } from '../../src/testing/ledger.js'
import { type Child, startChild } from '../../src/testing/process/start.js'
import { gate } from './bench.js'
import { stripeVendor } from './vendors.js'

const SERVER = new URL('../fixtures/webhook-server.mjs', import.meta.url)
const DELIVERIES = 1_000
const CONNECTIONS = 64
const PATIENT = { timeout: 60_000, interval: 10 }

interface Settings {
  readonly recovery: 'check' | 'hold'
  readonly hangs?: boolean
}

function open() {
  const directory = mkdtempSync(join(tmpdir(), 'ibid-storm-'))
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const children: Child[] = []
  onTestFinished(async () => {
    agent.destroy()
    await Promise.all(children.map((child) => child.end()))
    rmSync(directory, { recursive: true, force: true })
  })
  let port = 0

  async function start(settings: Settings): Promise<Child> {
    const child = startChild(SERVER)
    children.push(child)
    const given = { directory, port, secret: stripeVendor.secret, lease: '1s', ...settings }
    port = await child.call<number>('listen', given)
    return child
  }

  /** The status, or 0 when the connection broke. */
  async function send(id: string): Promise<number> {
    const body = stripeVendor.body(id)
    const headers = await stripeVendor.headers(id, body)
    return new Promise((resolve) => {
      const sending = request({ host: '127.0.0.1', port, method: 'POST', agent, headers }, (answer) => {
        answer.on('error', () => resolve(0))
        answer.on('end', () => resolve(answer.statusCode ?? 0))
        answer.resume()
      })
      sending.on('error', () => resolve(0))
      sending.end(body)
    })
  }

  return { start, send, effects: ledger(join(directory, 'effects.jsonl')) }
}

test(
  '[R41] [R60] [R61] one event, 1 000 deliveries, two SIGKILLs: one effect, every delivery 2xx in the end',
  { timeout: 180_000 },
  async () => {
    const { start, send, effects } = open()
    const first = await start({ recovery: 'check', hangs: true })
    const seen = new Map<number, number>()
    let answered = 0
    let waiting = DELIVERIES
    let killed: Promise<void> | undefined
    const second = gate<Child>()

    async function connection(): Promise<void> {
      while (waiting-- > 0) {
        for (;;) {
          const status = await send('evt_storm')
          seen.set(status, (seen.get(status) ?? 0) + 1)
          if (status >= 200 && status < 300) break
          await sleep(10)
        }
        // The second kill comes from within the storm, with requests of other connections on their way.
        if (++answered < DELIVERIES / 4) continue
        killed ??= second.opened.then((child) => child.kill())
        await second.opened
      }
    }
    const storm = Promise.all(Array.from({ length: CONNECTIONS }, connection))

    // The worst moment: the effect has happened, and nothing says so but the effect itself.
    await vi.waitFor(() => expect(effects.count('evt_storm')).toBe(1), PATIENT)
    await first.kill()
    expect(answered).toBe(0)
    second.open(await start({ recovery: 'check' }))
    await vi.waitFor(() => expect(killed).toBeDefined(), PATIENT)
    expect(answered).toBeLessThan(DELIVERIES)
    await killed
    const third = await start({ recovery: 'check' })
    await storm

    expect(answered).toBe(DELIVERIES)
    expect(effects.count('evt_storm')).toBe(1)
    expect(effects.all()).toHaveLength(1)
    // Broken connections and requests to come again, and nothing else, besides what was answered well.
    expect([...seen.keys()].filter((status) => ![0, 200, 409, 503].includes(status))).toEqual([])
    expect(seen.get(200)).toBe(DELIVERIES)
    const history = await third.call<AuditEvent[]>('history', { key: 'evt_storm' })
    const events = history.map(({ event }) => event).filter((event) => event !== 'renewed')
    expect(events.filter((event) => event === 'claimed')).toHaveLength(1)
    expect(events.filter((event) => event === 'settled')).toHaveLength(1)
  },
)

test('[R7] [R61] killed in the middle, under hold: the vendor is asked again until a person has decided', async () => {
  const { start, send, effects } = open()
  const first = await start({ recovery: 'hold', hangs: true })
  const broken = send('evt_held')
  await vi.waitFor(() => expect(effects.count('evt_held')).toBe(1), PATIENT)
  await first.kill()
  expect(await broken).toBe(0)
  const second = await start({ recovery: 'hold' })
  await vi.waitFor(async () => expect(await send('evt_held')).toBe(503), PATIENT)
  expect(await send('evt_held')).toBe(503)
  await second.call('resolve', { key: 'evt_held', as: 'succeeded' })
  expect(await send('evt_held')).toBe(200)
  expect(effects.all()).toHaveLength(1)
})

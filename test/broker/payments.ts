/**
 * A downstream as they are: refunds over HTTP on a real socket, which commit and then do not answer, lag behind, or
 * take a key and honour it. What it did is in a ledger of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { CheckResult } from '../../src/index.js'
import type { ToolCall } from '../../src/guards/broker/index.js'
import { type Ledger, ledger } from '../../src/testing/index.js'

export interface Refund {
  readonly id: string
  readonly amount: number
}

export type Behaviour =
  | 'ok'
  | 'commit, then silence'
  | 'commit, then cut'
  | 'silence'
  | { readonly status: number; readonly retryAfter?: string }

export interface Payments {
  readonly url: string
  readonly effects: Ledger
  /** What the next requests meet, in order; after that, 'ok'. */
  plan: Behaviour[]
  honoursKeys: boolean
  /** How the status is answered: truly, as not found for the next so many, or not at all. */
  status: 'true' | 'broken' | number
  /** The key of every request for a refund. */
  readonly keys: string[]
  readonly lookups: string[]
  refund(args: { amount: number }, call: ToolCall): Promise<Refund>
  check(call: ToolCall): Promise<CheckResult<Refund>>
  close(): Promise<void>
}

export async function startPayments(): Promise<Payments> {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-broker-'))
  const effects = ledger(join(folder, 'effects.jsonl'))
  const done = new Map<string, Refund>()
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )

  function commit(key: string, amount: number): Refund {
    const before = done.get(key)
    if (payments.honoursKeys && before) return before
    effects.append(key, { amount })
    const refund = { id: `re_${effects.all().length}`, amount }
    done.set(key, refund)
    return refund
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = String(request.headers['idempotency-key'])
    if (request.method === 'GET') return lookUp(key, response)
    payments.keys.push(key)
    const { amount } = JSON.parse(await text(request)) as { amount: number }
    const behaviour = payments.plan.shift() ?? 'ok'
    if (typeof behaviour === 'object') {
      const { status, retryAfter } = behaviour
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('{}')
    } else {
      const refund = behaviour === 'silence' ? undefined : commit(key, amount)
      if (behaviour === 'ok') response.end(JSON.stringify(refund))
      if (behaviour === 'commit, then cut') request.socket.destroy()
    }
  }

  function lookUp(key: string, response: ServerResponse): void {
    payments.lookups.push(key)
    if (payments.status === 'broken') return void response.writeHead(500).end()
    const blind = typeof payments.status === 'number' && payments.status-- > 0
    const found = blind ? undefined : done.get(key)
    response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? {}))
  }

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/refunds`
  const payments: Payments = {
    url,
    effects,
    plan: [],
    honoursKeys: false,
    status: 'true',
    keys: [],
    lookups: [],
    async refund({ amount }, { key, signal }) {
      const headers = { 'idempotency-key': key }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ amount }), signal })
      if (response.ok) return (await response.json()) as Refund
      throw Object.assign(new Error(`refunds answered ${response.status}`), {
        status: response.status,
        headers: response.headers,
      })
    },
    async check({ key, signal }) {
      const response = await fetch(url, { headers: { 'idempotency-key': key }, signal })
      if (response.status === 404) return { found: false }
      return response.ok ? { found: true, value: (await response.json()) as Refund } : { found: 'unclear' }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return payments
}

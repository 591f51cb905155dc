/** What a stop does not cut off, and who cannot hold it up. */
import { EventEmitter, once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditEvent } from '../../src/core/audit.js'
import { createDecisions } from '../../src/server/decisions.js'
import { createMeters } from '../../src/server/meters.js'
import type { ApiRequest } from '../../src/server/route.js'
import { EVENT_ROUTES } from '../../src/server/routes/events.js'
import { createStopping } from '../../src/server/stopping.js'
import { caller, openHouse, type Served } from './bench.js'

const VALUE = 'x'.repeat(100_000)
const WHERE = { tenant: 'acme', scope: 'a', key: 'long' }

/** More than the buffers of two sockets hold. */
const MANY = { receipts: Array.from({ length: 200 }, () => WHERE) }

async function withLongValue(served: Served): Promise<void> {
  const call = caller(served.url, served.key)
  const { body } = await call<{ token: string }>('/v1/claims', WHERE)
  await call('/v1/claims/settle', { ...WHERE, token: body.token, value: VALUE })
}

test('an answer that a slow client is still reading arrives whole, though the server stops', async () => {
  const served = await openHouse().serve()
  await withLongValue(served)
  const { hostname, port } = new URL(served.url)
  const headers = { authorization: `Bearer ${served.key}` }
  const sending = request({ hostname, port, path: '/v1/receipts/lookup', method: 'POST', headers })
  sending.end(JSON.stringify(MANY))
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  const stopped = served.stop()
  await expect.poll(() => served.log(), { timeout: 20_000 }).toContain('"message":"stopping"')
  await sleep(200)
  const of = Number(answer.headers['content-length'])
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) bytes += chunk.length
  expect(of).toBeGreaterThan(200 * VALUE.length)
  expect(bytes).toBe(of)
  expect(await stopped).toBe(0)
})

const isStillGood = async (): Promise<boolean> => true

/** A stream as it is open on a server of which only the parts are there that it uses. */
function openStream(needsDrain: boolean) {
  const written: string[] = []
  const ends: string[] = []
  const outgoing = Object.assign(new EventEmitter(), {
    writableNeedDrain: needsDrain,
    writableLength: 0,
    writeHead: () => outgoing,
    write: (text: string) => void written.push(text),
    end: () => void ends.push('ended'),
    destroy: () => void ends.push('destroyed'),
  })
  const at = {
    stopping: createStopping(),
    decisions: createDecisions(),
    meters: createMeters(),
    settings: { maxStreams: 1 },
  }
  const principal = { keyId: 'k', tenant: 'acme', rights: new Set(['read']) }
  const incoming = { headers: {} }
  const request = { at, principal, isStillGood, query: new URLSearchParams(), incoming, outgoing }
  const opened = EVENT_ROUTES[0]?.handle(request as unknown as ApiRequest)
  const decided = { tenant: 'acme', scope: 's', key: 'k', event: 'claimed', count: 1 } as AuditEvent
  return { at, opened, written, ends, outgoing, decide: () => at.decisions.sink([decided]) }
}

test.each([
  [false, 'ended'],
  [true, 'destroyed'],
])('a stream whose client lags (%s) is %s by a stop, and nothing is written after it', async (lags, end) => {
  const { at, opened, written, ends, outgoing, decide } = openStream(lags)
  onTestFinished(() => void outgoing.emit('close'))
  await opened
  decide()
  expect(written).toHaveLength(2)
  at.stopping.begin()
  expect(ends).toEqual([end])
  decide()
  expect(written).toHaveLength(2)
})

/**
 * What every framework of the table serves: one ibid on a store that can be cut off, guards under several options, and
 * a bank that does as the query says. Told by files, so that a test can lead a server in another process.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createIbid } from 'ibid'
import { openStore } from 'ibid/stores'
import { ledger } from 'ibid/testing'

const { folder, url } = JSON.parse(process.env.IBID_TEST_SITE)
const effects = ledger(join(folder, 'effects.jsonl'))
const there = (name) => existsSync(join(folder, name))

async function until(name) {
  while (!there(name)) await sleep(5)
}

/** The store as it is, but refused while there is a file `outage`, and stuck while there is a file `slow`. */
function cutOff(store) {
  const watched = ['claim', 'swap', 'get', 'check']
  return new Proxy(store, {
    get(target, name) {
      const value = target[name]
      if (typeof value !== 'function') return value
      if (!watched.includes(name)) return value.bind(target)
      return async (...args) => {
        if (there('outage')) throw new Error('connect ECONNREFUSED db-7.internal:5432')
        while (there('slow')) await sleep(5)
        return value.apply(target, args)
      }
    },
  })
}

function open() {
  const ibid = createIbid({ store: cutOff(openStore(url)), housekeeping: false })
  process.on('SIGTERM', () => void ibid.close().finally(() => process.exit(0)))
  return ibid
}

export const ibid = (globalThis.ibidOfTheSite ??= open())

/** By path. `headerOf` gives a header of the framework's request. */
export function optionsOf(headerOf) {
  const usual = {
    tenant: (request) => {
      const tenant = headerOf(request, 'x-tenant') ?? 'acme'
      return tenant === 'nobody' ? undefined : tenant
    },
    keyParameter: 'key',
    headers: ['x-kept'],
    statusPath: '/idempotency',
    maxRequestBytes: 4_000_000,
    maxResponseBytes: 100_000,
  }
  return {
    '/act': usual,
    '/nowait': { ...usual, policy: { wait: 0 } },
    '/lapse': { ...usual, policy: { lease: '400ms', wait: 0 } },
    '/brief': { ...usual, policy: { lease: '10s', timeout: '150ms' } },
    '/optional': { ...usual, required: false },
    '/derived': { ...usual, required: 'derived' },
    '/json': { ...usual, compare: 'json', identity: { ignore: ['reason'] } },
    '/repeat': { ...usual, policy: { recovery: 'retry', lease: '10s' } },
    '/idempotency': usual,
  }
}

export async function receiptsOf(tenant) {
  return JSON.stringify((await ibid.list({ tenant, limit: 1_000 })).receipts)
}

const sha = (bytes) => createHash('sha256').update(bytes).digest('hex')

async function* pieces(asked) {
  const gate = asked.get('gate')
  for (let piece = 1; piece <= 3; piece++) {
    yield Buffer.from(`data: ${piece} of ${randomUUID()} €\n\n`)
    if (piece === 1 && gate) await passed(gate)
  }
  const more = Number(asked.get('bytes') ?? 0)
  for (let sent = 0; sent < more; sent += 10_000) yield Buffer.alloc(10_000, 120)
}

async function passed(gate) {
  writeFileSync(join(folder, `${gate}.begun`), '')
  await until(`${gate}.open`)
}

const WAYS = {
  refund: (_asked, body) => ({ json: { refund: randomUUID(), note: '₹14,000 — “once”', sent: body.length } }),
  size: (_asked, body) => ({ json: { bytes: body.length, sha: sha(body) } }),
  bytes: () => ({
    type: 'application/octet-stream',
    body: Buffer.from(Array.from({ length: 512 }, (_, i) => i & 255)),
  }),
  gzip: () => ({ type: 'text/plain', encoding: 'gzip', body: gzipSync(randomUUID()) }),
  empty: () => ({ status: 204 }),
  large: (asked) => ({ type: 'text/plain', body: 'x'.repeat(Number(asked.get('bytes'))) }),
  stream: (asked) => ({ type: 'text/plain', pieces: pieces(asked) }),
  events: (asked) => ({ type: 'text/event-stream', pieces: pieces(asked) }),
  throw: () => {
    throw new Error('the password of db-7 is hunter2')
  },
}

/** Status, headers by name, and a body in one piece or in pieces. */
export async function carryOut(url, body, echoed, attempt) {
  const asked = new URL(url, 'http://bank').searchParams
  effects.append(asked.get('mark') ?? 'unmarked', { key: attempt?.key })
  const way = asked.get('do') ?? 'refund'
  const gate = asked.get('gate')
  if (gate && way !== 'stream' && way !== 'events') await passed(gate)
  const done = await WAYS[way](asked, body)
  const status = Number(asked.get('status') ?? done.status ?? 201)
  if (status === 204) return { status, headers: { 'x-kept': 'kept' } }
  const headers = {
    'content-type': done.type ?? 'application/json',
    location: '/refunds/1',
    'x-kept': 'kept',
    'x-dropped': randomUUID(),
    'set-cookie': `session=${randomUUID()}`,
    ...(done.encoding ? { 'content-encoding': done.encoding } : {}),
    ...(echoed ? { 'idempotency-replayed': echoed } : {}),
  }
  return { status, headers, body: done.json ? JSON.stringify(done.json) : done.body, pieces: done.pieces }
}

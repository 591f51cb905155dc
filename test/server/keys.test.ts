/** Nobody without a key gets anything, and a key of one tenant sees nothing of another: tried over every route. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Caller, caller, type House, openHouse, type Served } from './bench.js'
import { type Document, readDocument } from './document.js'

let close = async (): Promise<void> => {}
let house: House
let served: Served
let owner: Caller
let document: Document
let token: string

/** What stands in acme's receipt and nowhere else. */
const SECRET = 'the-secret-of-acme'
const WHERE = { scope: 'refund', key: SECRET }

beforeAll(async () => {
  house = openHouse((end) => (close = end))
  served = await house.serve()
  owner = caller(served.url, await house.newKey('acme', 'read,write,resolve'))
  document = await readDocument(caller(served.url, served.key))
  const claimed = await owner<{ token: string }>('/v1/claims', { ...WHERE, payload: SECRET })
  token = claimed.body.token
  const held = await owner<{ token: string }>('/v1/claims', { scope: 'held', key: SECRET })
  await owner('/v1/claims/hold', { scope: 'held', key: SECRET, token: held.body.token, why: SECRET })
})
afterAll(() => close())

/** A request that would do or show something on each route, if its key were acme's. */
function requestFor(path: string, tenant?: string): readonly [path: string, body?: object] {
  const named = tenant === undefined ? {} : { tenant }
  const query = new URLSearchParams({ ...named, ...WHERE })
  switch (path) {
    case '/v1/claims':
      return [path, { ...named, ...WHERE, payload: SECRET }]
    case '/v1/claims/renew':
    case '/v1/claims/settle':
    case '/v1/claims/release':
    case '/v1/claims/hold':
      return [path, { ...named, ...WHERE, token }]
    case '/v1/receipts/lookup':
      return [path, { receipts: [{ ...named, ...WHERE }] }]
    case '/v1/resolutions':
      return [path, { ...named, scope: 'held', key: SECRET, as: 'released', by: 'eve', why: 'mine now' }]
    case '/v1/sweep':
      return [path, {}]
    case '/v1/receipt':
    case '/v1/receipt/history':
      return [`${path}?${query}`]
    case '/v1/receipt/timeline':
      query.delete('scope')
      return [`${path}?${query}`]
    case '/v1/receipts':
    case '/v1/held':
    case '/v1/log':
    case '/v1/stats':
    case '/v1/events':
      return [tenant === undefined ? path : `${path}?tenant=${tenant}`]
    default:
      return [path]
  }
}

async function send(key: string | undefined, [path, body]: readonly [string, object?], header = 'Bearer ') {
  const aborted = new AbortController()
  const response = await fetch(`${served.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: key === undefined ? {} : { authorization: `${header}${key}` },
    signal: aborted.signal,
    ...(body && { body: JSON.stringify(body) }),
  })
  // A stream has no end: nothing of acme happens while this test looks, so its beginning is all there is.
  if (response.headers.get('content-type') === 'text/event-stream') {
    aborted.abort()
    return { status: response.status, text: '' }
  }
  return { status: response.status, text: await response.text() }
}

describe('[R1] keys that are not good', () => {
  test('no key, wrong, revoked and malformed ones get 401 on every route, and nothing else', async () => {
    const good = await house.newKey('acme', 'admin')
    const [, id = '', secret = ''] = /^ibid_([0-9a-f]+)_(.+)$/.exec(good) ?? []
    const revoked = await house.newKey('acme', 'admin')
    await house.ibid('keys', 'revoke', revoked.split('_')[1] as string, '--why', 'lost')
    const flipped = secret.startsWith('A') ? `B${secret.slice(1)}` : `A${secret.slice(1)}`
    const bad: Readonly<Record<string, readonly [string | undefined, string?]>> = {
      none: [undefined],
      'a wrong secret': [`ibid_${id}_${flipped}`],
      'another id': [`ibid_${'0'.repeat(16)}_${secret}`],
      revoked: [revoked],
      'cut off': [good.slice(0, -1)],
      'with more behind it': [`${good}A`],
      'the id alone': [id],
      empty: [''],
      'by another scheme': [good, 'Basic '],
      'without a scheme': [good, ''],
      twice: [`${good}, Bearer ${good}`],
      'a proto': ['__proto__'],
    }
    expect(document.operations.length).toBeGreaterThan(15)
    for (const { path } of document.operations) {
      for (const [name, [key, header]] of Object.entries(bad)) {
        const { status, text } = await send(key, requestFor(path), header)
        expect(status, `${path}, ${name}`).toBe(401)
        expect(text).not.toContain(SECRET)
      }
      expect((await send(good, requestFor(path, 'acme'))).status, path).not.toBe(401)
    }
    for (const [name, [key, header]] of Object.entries(bad)) {
      expect((await send(key, ['/v1/no/such/route'], header)).status, name).toBe(401)
      expect((await send(key, ['/metrics'], header)).status, name).toBe(401)
    }
    // The token was not used by any of these: the claim is still as it was, but for the good key above.
  })
})

test('[R1] a stream of decisions ends with the key that opened it, and tells nothing more', async () => {
  const lost = await house.newKey('acme', 'read')
  const headers = { authorization: `Bearer ${lost}` }
  const stream = await fetch(`${served.url}/v1/events`, { headers })
  const text = stream.text()
  await owner('/v1/claims', { scope: 'refund', key: 'while-it-was-good' })
  await house.ibid('keys', 'revoke', lost.split('_')[1] as string, '--why', 'lost')
  expect(await text).toContain('while-it-was-good')
  expect((await fetch(`${served.url}/v1/events`, { headers })).status).toBe(401)
})

describe('[R1] keys of another tenant', () => {
  test('see nothing and change nothing on any route, whether they name the tenant or not', async () => {
    await owner('/v1/claims', { ...WHERE, payload: SECRET })
    const before = await owner(`/v1/receipt?${new URLSearchParams(WHERE)}`)
    const heldBefore = await owner(`/v1/receipt?${new URLSearchParams({ ...WHERE, scope: 'held' })}`)
    const eve = await house.newKey('eve', 'admin')
    for (const { path } of document.operations) {
      const named = await send(eve, requestFor(path, 'acme'))
      const isAboutReceipts = path !== '/v1/me' && path !== '/v1/openapi.json'
      expect(named.status, path).toBe(isAboutReceipts ? 403 : 200)
      expect(named.text, path).not.toMatch(new RegExp(`"${SECRET}"`))
      // Without a name it is about her own receipts, of which one has the same scope and key.
      const unnamed = await send(eve, requestFor(path))
      expect(unnamed.text.includes('"tenant":"acme"'), path).toBe(false)
    }
    expect((await send(eve, ['/metrics'])).status).toBe(403)
    expect((await owner(`/v1/receipt?${new URLSearchParams(WHERE)}`)).body).toEqual(before.body)
    expect((await owner(`/v1/receipt?${new URLSearchParams({ ...WHERE, scope: 'held' })}`)).body).toEqual(
      heldBefore.body,
    )
  })

  test('hear nothing of another tenant in the stream of decisions', async () => {
    const eve = await house.newKey('eve', 'read')
    const response = await fetch(`${served.url}/v1/events`, {
      headers: { authorization: `Bearer ${eve}`, 'last-event-id': '0' },
    })
    const mallory = caller(served.url, await house.newKey('eve', 'write'))
    await owner('/v1/claims', { scope: 'refund', key: 'not-for-eve' })
    await mallory('/v1/claims', { scope: 'refund', key: 'for-eve' })
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      if (text.includes('for-eve"')) break
    }
    expect(text).not.toContain('"tenant":"acme"')
  })
})

describe('rights', () => {
  const NEEDED: Readonly<Record<string, string>> = {
    read: '/v1/receipts',
    write: '/v1/claims',
    resolve: '/v1/resolutions',
    admin: '/v1/check',
  }

  test.each(Object.keys(NEEDED))('%s opens its own routes and no others', async (right) => {
    const key = await house.newKey('*', right)
    for (const [needed, path] of Object.entries(NEEDED)) {
      const { status } = await send(key, requestFor(path, 'somebody'))
      const isOpen = right === needed || right === 'admin'
      expect(status !== 403, `${right} on ${path}`).toBe(isOpen)
    }
  })

  test('no key reaches the server’s own receipts', async () => {
    const call = caller(served.url, served.key)
    for (const query of ['', '?tenant=ibid%3Aserver', '?scope=api-key']) {
      const { body } = await call<{ receipts?: unknown[] }>(`/v1/receipts${query}`)
      expect(JSON.stringify(body)).not.toContain('api-key"')
    }
    expect(JSON.stringify((await call('/v1/log?limit=1000')).body)).not.toContain('api-key')
    expect(await call('/v1/claims', { tenant: 'ibid:server', scope: 'api-key', key: 'mine' })).toMatchObject({
      status: 403,
    })
  })
})

describe('the command line', () => {
  test('keys are made, listed without their secrets, and revoked for good', async () => {
    const made = JSON.parse(
      await house.ibid(
        'keys',
        'create',
        '--tenant',
        'zoe',
        '--rights',
        'read',
        '--note',
        'for \u001b[31mzoe',
        '--json',
      ),
    ) as { key: string; id: string }
    const call = caller(served.url, made.key)
    expect((await call('/v1/me')).body).toMatchObject({ tenant: 'zoe', rights: ['read'] })
    const listed = await house.ibid('keys', 'list')
    expect(listed).toMatch(new RegExp(`${made.id}\\s+zoe\\s+read\\s.*good\\s+for \\S*zoe`))
    expect(listed).not.toContain('\u001b')
    expect(await house.ibid('keys', 'list', '--json')).not.toContain(made.key.slice(-43))
    await house.ibid('keys', 'revoke', made.id)
    await expect.poll(async () => (await call('/v1/me')).status).toBe(401)
    expect(await house.ibid('keys', 'list')).toMatch(new RegExp(`${made.id}.*revoked`))
  })

  test.each([
    [['keys', 'create', '--tenant', 'ibid:server'], /the server's own/],
    [['keys', 'create', '--tenant', 'a', '--rights', 'fly'], /rights has fly/],
    [['keys', 'revoke', 'nobody'], /there is no key "nobody"/],
  ])('%j is refused with the reason', async (args, reason) => {
    await expect(house.ibid(...args)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(reason) as string,
    })
  })
})

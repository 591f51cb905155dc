/**
 * Inputs that nobody should send, made by damaging good ones: JSON texts, signed webhooks, requests with keys, intents.
 * Whatever comes, the answer is a structured refusal or the right result; no handler runs for what was not signed, no
 * effect for what was refused, and no error comes out that is not ibid's own.
 */
import { createHmac } from 'node:crypto'

const SEED = 23
/** An input that no client can send, or that came out undamaged: it counts as none. */
const UNSENT = Symbol('unsent')
const SECRET = 'whsec_malformed'
const NOISE = [
  '\u0000',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '=',
  '\n',
  '\ud800',
  '1e999',
  '-0',
  '__proto__',
  '\u202e',
  '9'.repeat(40),
]

export const malformed = {
  id: 'malformed',
  property: 'No malformed input gets past a guard, or out of it as a bare error',
  async run({ quick, progress }) {
    const each = quick ? 1_500 : 100_000
    const targets = await targetsOf()
    const ran = {}
    const found = []
    for (const [name, attack] of Object.entries(targets)) {
      const one = await tryAll(name, attack, each, progress)
      found.push(...one.found)
      ran[name] = one.sent
    }
    // The same judges, each over something that lets everything pass.
    const controls = {
      'JSON texts': await textAttack(laxParse),
      intents: await intentAttack(forgetful),
      requests: await requestAttack(careless),
      webhooks: await webhookAttack(believer),
    }
    const missed = []
    for (const [name, attack] of Object.entries(controls)) {
      const one = await tryAll(name, attack, 1_000, progress)
      if (one.found.length === 0) missed.push(name)
    }
    const planted = Object.keys(controls).length
    return {
      ran,
      tried: Object.values(ran).reduce((sum, count) => sum + count, 0),
      violations: found.length,
      seeds: `${SEED}`,
      control: { planted, caught: planted - missed.length },
      details: [...missed.map((name) => `NOT CAUGHT: ${name}`), ...found.slice(0, 10)],
    }
  },
}

async function targetsOf() {
  const { webhook, stripe } = await import('../../dist/guards/webhook/index.js')
  const guarded = (ibid, handle) => webhook(ibid, { source: stripe({ secret: SECRET }), handle })
  return {
    'JSON texts': await textAttack(),
    intents: await intentAttack(),
    requests: await requestAttack(),
    webhooks: await webhookAttack(guarded),
  }
}

async function tryAll(name, attack, each, progress) {
  const { random } = await import('../../dist/testing/random.js')
  const { next } = random(SEED)
  const found = []
  let sent = 0
  for (let at = 0; at < each; at++) {
    const problem = await attack(next, at)
    if (problem !== UNSENT) sent++
    if (problem !== UNSENT && problem !== undefined) found.push(`${name}, input ${at}: ${problem}`)
    if (at % 5_000 === 0) progress(`${name}: ${at} of ${each}`)
  }
  return { found, sent }
}

/** A good text with some of it cut, doubled, swapped or replaced by noise. */
function damage(text, next) {
  let damaged = text
  const times = 1 + Math.floor(next() * 3)
  for (let time = 0; time < times; time++) {
    const from = Math.floor(next() * (damaged.length + 1))
    const to = Math.min(damaged.length, from + Math.floor(next() * 6))
    const noise = next() < 0.6 ? NOISE[Math.floor(next() * NOISE.length)] : damaged.slice(from, to).repeat(2)
    damaged = damaged.slice(0, from) + noise + damaged.slice(to)
  }
  return damaged
}

const goodText = (at) =>
  JSON.stringify({ id: `evt_${at}`, amount: at / 8, nested: { list: [1, null, true, 'é', { a: '\u2028' }] } })

/** What JSON itself refuses is refused; what is accepted reads the same again from its canonical form. */
async function textAttack(given) {
  const { parseStrict, canonicalJson } = await import('../../dist/key/index.js')
  const { IbidError } = await import('../../dist/index.js')
  const parse = given ?? parseStrict
  return (next, at) => {
    const text = damage(goodText(at), next)
    try {
      const canonical = canonicalJson(parse(text))
      if (!isJson(text)) return `accepted what is no JSON: ${JSON.stringify(text)}`
      if (canonicalJson(parse(canonical)) !== canonical) return `not canonical: ${canonical}`
    } catch (error) {
      if (!(error instanceof IbidError)) return `threw ${error}: ${JSON.stringify(text)}`
    }
    return undefined
  }
}

function isJson(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function freshIbid() {
  const { createIbid, IbidError } = await import('../../dist/index.js')
  const { memoryStore } = await import('../../dist/stores/memory/index.js')
  return { ibid: createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false }), IbidError }
}

/** Refused with a code, and nothing ran; or accepted, and it ran once. */
async function intentAttack(given) {
  const { ibid, IbidError } = await freshIbid()
  const once = given ?? ibid.once
  const odd = [
    undefined,
    null,
    Number.NaN,
    1n,
    Symbol('x'),
    () => 1,
    new Date(Number.NaN),
    [],
    {},
    '',
    'x'.repeat(300),
  ]
  return async (next, at) => {
    const pick = (good) =>
      next() < 0.4 ? odd[Math.floor(next() * odd.length)] : next() < 0.3 ? damage(good, next) : good
    const intent = {
      tenant: pick('acme'),
      scope: pick('tool'),
      key: pick(`key ${at}`),
      payload: pick(goodText(at)),
    }
    let effects = 0
    const { error, replayed } = await once(next() < 0.02 ? odd[0] : intent, () => void effects++).then(
      (answer) => ({ replayed: answer.replayed }),
      (thrown) => ({ error: thrown }),
    )
    if (error !== undefined && !(error instanceof IbidError)) return `threw ${error}`
    if (error !== undefined && effects > 0) return `refused with ${error.code}, and ran`
    if (error === undefined && effects === 0 && !replayed) return 'accepted, and never ran'
    return effects > 1 ? 'ran twice' : undefined
  }
}

/**
 * A key that is damaged is refused with a 4xx and nothing runs, or is a key of its own. Never a 5xx. No two bodies are
 * the same, so nothing is a replay. A text that is opened and never closed is no key, whoever reads it.
 */
async function requestAttack(given) {
  const { ibid } = await freshIbid()
  const { idempotent } = await import('../../dist/guards/http/index.js')
  const guard = given ?? idempotent(ibid, { tenant: () => 'acme', required: true })
  return async (next, at) => {
    let runs = 0
    const headers = new Headers({ 'content-type': 'application/json' })
    try {
      headers.set('idempotency-key', damage(`"key-${at}"`, next))
    } catch {
      // A header that no client can send.
      headers.set('idempotency-key', '"')
    }
    const request = new Request('http://localhost/refunds', {
      method: 'POST',
      headers,
      body: damage(goodText(at), next),
    })
    const response = await guard(request, () => (runs++, new Response('done')))
    if (response.status >= 500) return `answered ${response.status} to ${headers.get('idempotency-key')}`
    if (response.status >= 400 && runs > 0) return `refused with ${response.status}, and ran`
    const sent = headers.get('idempotency-key')
    if (response.status < 400 && runs === 0) return `answered ${response.status} to ${sent} and never ran`
    if (runs > 0 && /^"[^"\\]*$/.test(sent)) return `ran under the key ${sent}`
    return runs > 1 ? 'ran twice' : undefined
  }
}

/** Bytes or signature changed after signing: the handler never runs, and the answer is a refusal. */
async function webhookAttack(guardOf) {
  const { ibid } = await freshIbid()
  let handled = 0
  const hook = guardOf(ibid, async () => void handled++)
  return async (next, at) => {
    const body = goodText(at)
    const time = Math.floor(Date.now() / 1_000)
    const mac = createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')
    const isBody = next() < 0.5
    const sent = isBody ? damage(body, next) : body
    const signature = isBody ? `t=${time},v1=${mac}` : damage(`t=${time},v1=${mac}`, next)
    // Noise in front of a whole, good signature leaves it a good signature.
    if (sent === body && signature.includes(`v1=${mac}`) && signature.includes(`t=${time}`)) return UNSENT
    let headers
    try {
      headers = new Headers({ 'stripe-signature': signature, 'content-type': 'application/json' })
    } catch {
      return UNSENT
    }
    const before = handled
    const response = await hook(new Request('http://localhost/hook', { method: 'POST', headers, body: sent }))
    if (handled > before && !isSameBytes(sent, body)) return 'handled what was not signed'
    if (handled > before) return `handled under the signature ${signature}`
    return response.status >= 500 ? `answered ${response.status}` : undefined
  }
}

/** A lone surrogate and its replacement are the same bytes. */
function isSameBytes(one, two) {
  return Buffer.from(one).equals(Buffer.from(two))
}

/** The planted faults: a text that is no JSON is read all the same. */
function laxParse(text) {
  return isJson(text) ? JSON.parse(text) : text
}

/** Whatever is asked for is said to be done. */
const forgetful = () => Promise.resolve({ replayed: false })

/** No key is looked at. */
const careless = async (_request, handle) => await handle()

/** No signature is looked at. */
function believer(_ibid, handle) {
  return async (request) => {
    await handle(await request.text())
    return new Response('ok')
  }
}

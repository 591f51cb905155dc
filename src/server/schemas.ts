/**
 * The shapes of the API, as JSON Schema, for the OpenAPI document. What the routes answer is held against them
 * by a test.
 */
import { AUDIT_EVENTS } from '../core/audit.js'
import { RECOVERIES, STATES } from '../core/receipt.js'
import { RIGHTS } from './api-keys.js'

type Schema = Readonly<Record<string, unknown>>

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

function object(properties: Schema, required: readonly string[] = Object.keys(properties)): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
const text = { type: 'string' }
const name = { type: 'string', minLength: 1, maxLength: 255 }
const number = { type: 'number' }
const count = { type: 'integer', minimum: 0 }
const duration = {
  oneOf: [
    { type: 'number', minimum: 0 },
    { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$' },
  ],
}
const token = { type: 'string', minLength: 22, maxLength: 128 }
const instant = { type: 'number', description: 'milliseconds since 1970 by the clock of the store' }

const ADDRESS = { tenant: name, scope: name, key: name }
const NEEDED = ['scope', 'key']

const RECEIPT = {
  ...ADDRESS,
  fingerprint: text,
  state: { enum: STATES },
  attempt: count,
  maxAttempts: count,
  recovery: { enum: RECOVERIES },
  leaseMs: number,
  windowMs: number,
  epoch: number,
  createdAt: instant,
  at: instant,
  until: { type: ['number', 'null'] },
}

const REFUSAL = object({ code: text, message: text, action: text, data: {} }, ['message'])
const DETAIL = { ...RECEIPT, value: {}, error: REFUSAL }
const LAYER = object({ originals: count, duplicates: count, inFlight: count, conflicts: count, held: count })
const STEP = object({ at: number, layers: { type: 'object', additionalProperties: LAYER } })

/** One item of a batch: an answer as it would have come alone, with its status. */
const each = (schema: Schema): Schema => ({
  oneOf: [
    { ...schema, properties: { status: count, ...(schema['properties'] as Schema) } },
    object({ status: count, problem: ref('Problem') }),
  ],
})

const CLAIMED = object({
  outcome: { const: 'claimed' },
  token,
  resumed: {
    type: 'boolean',
    description: 'claimed earlier under the token you brought; the answer was lost',
  },
  checkFirst: {
    type: 'boolean',
    description: 'an earlier attempt may have done it: ask downstream before you do',
  },
  receipt: ref('Receipt'),
})
const REPLAYED = object(
  { outcome: { const: 'succeeded' }, value: {}, retained: { type: 'boolean' }, receipt: ref('Receipt') },
  ['outcome', 'retained', 'receipt'],
)
const REFUSED = object({ outcome: { const: 'failed' }, error: REFUSAL, receipt: ref('Receipt') })
const withStatus = (schema: Schema): Schema => ({
  ...schema,
  properties: { status: count, ...(schema['properties'] as Schema) },
  required: ['status', ...(schema['required'] as string[])],
})

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Address: object(ADDRESS, NEEDED),
  Intent: object(
    {
      ...ADDRESS,
      payload: { description: 'what is meant; another payload under the same key is refused' },
      identity: {
        type: 'object',
        description: '{ ignore: [paths] } or { include: [paths] }: what of the payload counts',
      },
      token: {
        ...token,
        description: 'a random text of yours, so that a claim whose answer was lost can be made again',
      },
      lease: duration,
      window: duration,
      wait: { ...duration, description: 'how long to wait for another attempt; default 0' },
      recovery: { enum: ['hold', 'retry', 'check'] },
      maxAttempts: { type: 'integer', minimum: 1 },
    },
    NEEDED,
  ),
  Owned: object({ ...ADDRESS, token }, [...NEEDED, 'token']),
  Settlement: object(
    { ...ADDRESS, token, as: { enum: ['succeeded', 'failed'] }, value: {}, error: REFUSAL },
    [...NEEDED, 'token'],
  ),
  Given: object({ ...ADDRESS, token, why: text }, [...NEEDED, 'token']),
  Resolution: object(
    {
      ...ADDRESS,
      as: { enum: ['succeeded', 'failed', 'released'] },
      value: {},
      error: REFUSAL,
      by: text,
      why: text,
      epoch: count,
    },
    [...NEEDED, 'as', 'by', 'why'],
  ),
  Receipt: object(RECEIPT),
  Detail: object(DETAIL, Object.keys(RECEIPT)),
  Claimed: CLAIMED,
  Replayed: REPLAYED,
  Refused: REFUSED,
  ClaimResults: object({
    results: list({
      oneOf: [
        withStatus(CLAIMED),
        withStatus(REPLAYED),
        withStatus(REFUSED),
        object({ status: count, problem: ref('Problem') }),
      ],
    }),
  }),
  Changed: object({ receipt: ref('Receipt') }),
  ChangeResults: object({ results: list(each(object({ status: count, receipt: ref('Receipt') }))) }),
  Found: object({ receipt: { oneOf: [ref('Detail'), { type: 'null' }] } }),
  FoundList: object({ receipts: list({ oneOf: [ref('Detail'), { type: 'null' }] }) }),
  Page: object({ receipts: list(ref('Receipt')), cursor: text }, ['receipts']),
  Event: object(
    {
      ...ADDRESS,
      event: { enum: AUDIT_EVENTS },
      by: text,
      why: text,
      at: instant,
      state: { enum: [...STATES, null] },
      epoch: number,
      attempt: count,
      fingerprint: text,
      count,
    },
    ['tenant', 'scope', 'key', 'event', 'at', 'state', 'epoch', 'attempt', 'fingerprint', 'count'],
  ),
  History: object({ events: list(ref('Event')) }),
  Timeline: object({ receipts: list(ref('Receipt')), events: list(ref('Event')) }),
  Log: object({ events: list(ref('Event')), cursor: text }, ['events']),
  Stats: object({
    totals: { type: 'object', additionalProperties: LAYER },
    hitRate: number,
    recent: object({ stepMs: number, steps: list(STEP) }),
    day: object({ stepMs: number, steps: list(STEP) }),
    store: {
      type: 'object',
      additionalProperties: object({ calls: count, p50Ms: number, p99Ms: number, errors: count }),
    },
    waiters: count,
    streams: count,
  }),
  Check: object({
    store: text,
    findings: list(
      object({ level: { enum: ['error', 'warning'] }, code: text, message: text, remedy: text }),
    ),
    facts: { type: 'object' },
  }),
  Swept: object({ held: count, released: count, purged: count, events: count }),
  Me: object({ keyId: text, tenant: text, rights: list({ enum: RIGHTS }), version: text }),
  Document: { type: 'object', required: ['openapi', 'info', 'paths'] },
  Problem: object(
    {
      type: text,
      title: text,
      status: count,
      detail: text,
      code: text,
      retriable: { type: 'boolean' },
      action: text,
      retryAfterMs: number,
      receipt: ref('Receipt'),
    },
    ['type', 'title', 'status', 'detail', 'code', 'retriable', 'action'],
  ),
}

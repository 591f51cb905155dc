/** Contracts that lie or are careless: each is refused, by lintContract and when a broker is made, with its reason. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { IbidError } from '../../src/index.js'
import { createBroker, lintContract, type Tool } from '../../src/guards/broker/index.js'
import { benchOf, REFUND_SCHEMA, refundTool } from './bench.js'

const check = () => ({ found: 'unclear' }) as const
const KEYED = { acceptsKey: true, window: '30d' } as const
const MODEL_KEY = { type: 'object', properties: { amount: {}, idempotency_key: { type: 'string' } } }
const CHOICE = { type: 'object', properties: { order: {}, speed: { enum: ['slow', 'fast'] } } }

/** What is changed in a contract that can be kept, and the reason it cannot be kept then. */
const LIES: readonly (readonly [why: string, code: string, over: Record<string, unknown>])[] = [
  [
    'a longer window than the downstream honours',
    'WINDOW_BEYOND_DOWNSTREAM',
    { window: '60d', downstream: KEYED },
  ],
  [
    'a default window that the downstream does not honour',
    'WINDOW_BEYOND_DOWNSTREAM',
    { value: 'high', downstream: { acceptsKey: true, window: '24h' } },
  ],
  ['a downstream window, and no key', 'WINDOW_WITHOUT_KEY', { downstream: { window: '30d' } }],
  ['irreversible, no key, no check, no person', 'IRREVERSIBLE_UNGUARDED', { effect: 'irreversible' }],
  [
    'irreversible, and forgotten the next day',
    'IRREVERSIBLE_WINDOW_SHORT',
    { effect: 'irreversible', check, window: '24h' },
  ],
  [
    'irreversible, and undone',
    'IRREVERSIBLE_WITH_UNDO',
    { effect: 'irreversible', check, undo: () => undefined },
  ],
  ['a read that has to be undone', 'READ_WITH_WRITE_FACTS', { effect: 'read', undo: () => undefined }],
  ['a read that takes a key', 'READ_WITH_WRITE_FACTS', { effect: 'read', downstream: KEYED }],
  ['idempotent over nothing', 'IDEMPOTENT_WITHOUT_RESOURCE', { effect: 'write-idempotent' }],
  [
    'idempotent over an argument that may be missing',
    'RESOURCE_NOT_REQUIRED',
    { effect: 'write-idempotent', resource: 'reason' },
  ],
  ['a resource for a write that is not idempotent', 'RESOURCE_ON_ANOTHER_CLASS', { resource: 'payment' }],
  [
    'a person decides about what is not recorded',
    'HUMAN_WITHOUT_RECORD',
    { effect: 'write-idempotent', resource: 'payment', requiresHumanOnRetry: true },
  ],
  [
    'a person decides, and it retries by itself',
    'HUMAN_BUT_RETRIES',
    { requiresHumanOnRetry: true, retry: { attempts: 3 } },
  ],
  [
    'tries that do not fit into the lease',
    'TRIES_BEYOND_LEASE',
    { lease: '30s', timeout: '20s', retry: { attempts: 3 } },
  ],
  [
    'a check that is believed before the downstream is done',
    'LEASE_BEFORE_SETTLED',
    { check, lease: '60s', timeout: '10s', downstream: { settles: '10m' } },
  ],
  ['forgotten before a crash is noticed', 'WINDOW_BEFORE_LEASE', { window: '1m', lease: '5m' }],
  ['a key that the model supplies', 'MODEL_SUPPLIES_KEY', { input: MODEL_KEY }],
  ['an amount that does not count', 'IDENTITY_IGNORES_TARGET', { identity: { ignore: ['amount'] } }],
  [
    'a destination that is left out of an include list',
    'IDENTITY_IGNORES_TARGET',
    { identity: { include: ['reason'] } },
  ],
  [
    'a choice that does not count',
    'IDENTITY_IGNORES_TARGET',
    { input: CHOICE, identity: { ignore: ['speed'] } },
  ],
  [
    'a marked amount',
    'IDENTITY_IGNORES_TARGET',
    { input: z.object({ order: z.string(), amount: z.number().meta({ non_idempotent: true }) }) },
  ],
  [
    'no argument that counts',
    'IDENTITY_IGNORES_ALL',
    { input: { type: 'object', properties: { note: {} } }, identity: { ignore: ['note'] } },
  ],
  ['a misspelt field to ignore', 'IDENTITY_NAMES_NOTHING', { identity: { ignore: ['raeson'] } }],
  ['an identity that is none', 'IDENTITY_INVALID', { identity: { ignored: ['reason'] } }],
  ['an identity in two places', 'IDENTITY_TWICE', { identity: { ignore: ['reason'] } }],
  ['a misspelt promise', 'UNKNOWN_FIELD', { requireHumanOnRetry: true }],
  ['a promise that is no fact', 'FIELD_INVALID', { downstream: { acceptsKey: 'yes' } }],
  ['an unheard-of effect', 'EFFECT_UNKNOWN', { effect: 'safe' }],
  ['no schema', 'NO_INPUT_SCHEMA', { input: undefined }],
  ['a schema that is none', 'INPUT_UNUSABLE', { input: { type: 'objekt' } }],
  ['nothing that runs', 'NO_EXECUTE', { execute: undefined }],
  ['a duration that is none', 'DURATION_INVALID', { window: 'a week' }],
  ['no time at all', 'DURATION_INVALID', { timeout: '0s' }],
  ['endless retries', 'FIELD_INVALID', { retry: { attempts: 1_000 } }],
  ['no version', 'FIELD_INVALID', { version: 'latest' }],
]

describe('[R32] refused, with the reason and the remedy', () => {
  test.each(LIES)('%s: %s', (_, code, over) => {
    const tool = refundTool(over)
    const found = lintContract(tool).filter(({ level }) => level === 'error')
    expect(found.map((finding) => finding.code)).toContain(code)
    for (const { message, remedy } of found) {
      expect(message.length).toBeGreaterThan(10)
      expect(remedy.length).toBeGreaterThan(10)
    }
    const [error] = found.filter((finding) => finding.code === code)
    const start = (): unknown => benchOf([tool])
    expect(start).toThrow(IbidError)
    expect(start).toThrow(`issue_refund: ${code}: ${error?.message}`)
  })

  test('the table has more than twelve reasons', () => {
    expect(new Set(LIES.map(([, code]) => code)).size).toBeGreaterThan(12)
  })

  test('two tools of one name, and everything that is wrong, at once', () => {
    const tools = [refundTool(), refundTool(), refundTool({ name: 'x', window: '1ms' })]
    expect(() => benchOf(tools)).toThrow(/issue_refund: DUPLICATE_NAME/)
    expect(() => benchOf(tools)).toThrow(/x: WINDOW_BEFORE_LEASE/)
  })

  test('something else than a contract', () => {
    expect(lintContract(null as unknown as Tool)).toMatchObject([{ level: 'error', code: 'NOT_A_CONTRACT' }])
  })

  test('no ibid', () => {
    expect(() => createBroker({ tools: [] } as never)).toThrow(/got no ibid/)
  })
})

describe('[R30] kept', () => {
  const RefundSchema = z.object({ payment: z.string(), amount: z.number(), reason: z.string() })
  const whole = {
    input: RefundSchema,
    identity: { ignore: ['reason'] },
    scope: 'refunds:write',
    window: '7d',
    lease: '5m',
    timeout: '20s',
    retry: { attempts: 3 },
    downstream: KEYED,
    requiresHumanOnRetry: false,
    check,
    undo: () => undefined,
  }

  test('a contract with everything said has no findings', () => {
    expect(lintContract(refundTool(whole))).toEqual([])
  })

  test.each([
    ['irreversible with a key', { effect: 'irreversible', downstream: KEYED }],
    ['irreversible with a check', { effect: 'irreversible', check }],
    ['irreversible with a person', { effect: 'irreversible', requiresHumanOnRetry: true }],
    ['write-idempotent with a resource', { effect: 'write-idempotent', resource: 'payment' }],
    ['a read', { effect: 'read', name: 'get_refund' }],
    [
      'trace ids that do not count',
      {
        input: { type: 'object', properties: { order: {}, trace_id: {} } },
        identity: { ignore: ['trace_id'] },
      },
    ],
    [
      'undeclared arguments, on purpose',
      {
        input: { ...REFUND_SCHEMA, properties: {}, additionalProperties: true },
        identity: { ignore: ['note'] },
      },
    ],
  ])('%s has no errors', (_, over) => {
    expect(lintContract(refundTool(over)).filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each([
    ['a key without a window', 'DOWNSTREAM_WINDOW_UNKNOWN', { downstream: { acceptsKey: true } }],
    ['nothing that can tell', 'NO_WAY_TO_KNOW', {}],
    ['no right', 'NO_RIGHT_NEEDED', {}],
    ['a read with the name of a write', 'READ_NAMED_LIKE_WRITE', { effect: 'read' }],
    ['a reason that counts', 'IDENTITY_KEEPS_NOISE', { input: RefundSchema }],
  ])('%s is a warning, and a broker starts with it', async (_, code, over) => {
    const tool = refundTool(over)
    expect(
      lintContract(tool)
        .filter(({ level }) => level === 'warning')
        .map((found) => found.code),
    ).toContain(code)
    benchOf([tool])
  })

  test.each([
    ['write-non-idempotent', undefined, 86_400_000],
    ['write-non-idempotent', 'high', 7 * 86_400_000],
    ['irreversible', undefined, 7 * 86_400_000],
  ])('[R31] the default window of %s, value %s, is %i ms', async (effect, value, windowMs) => {
    const over = { effect, downstream: KEYED, ...(value && { value }) }
    const { broker, ibid } = benchOf([refundTool(over)])
    await broker.call(
      'issue_refund',
      { payment: 'p', amount: 1 },
      { tenant: 'acme', runId: 'r', stepId: 's' },
    )
    expect((await ibid.list()).receipts).toMatchObject([{ windowMs }])
  })
})

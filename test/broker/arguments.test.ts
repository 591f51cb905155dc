/** Arguments, checked by whatever schema a tool has: every error names the field, and nothing is claimed. */
import { runInNewContext } from 'node:vm'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool, type InputSchema } from '../../src/guards/broker/index.js'
import { type Bench, benchOf, CONTEXT, errorCode, refundTool } from './bench.js'

const nothingClaimed = async ({ ibid }: Bench): Promise<boolean> => (await ibid.list()).receipts.length === 0

const LINE = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] }

/** As a library that was loaded in another realm would answer. */
const validate = (value: unknown): never =>
  runInNewContext('Promise.resolve(result)', {
    result: value === 'good' ? { value: { amount: 1 } } : { issues: [{ message: 'is not good' }] },
  }) as never

describe('[R33][R35] arguments', () => {
  const ofJson: InputSchema = {
    type: 'object',
    properties: { order: { type: 'object', properties: { lines: { type: 'array', items: LINE } } } },
    required: ['order'],
  }
  const schemas: Readonly<Record<string, InputSchema>> = {
    zod: z.object({ order: z.object({ lines: z.array(z.object({ amount: z.int() })) }) }),
    valibot: v.object({ order: v.object({ lines: v.array(v.object({ amount: v.number() })) }) }),
    arktype: type({ order: { lines: type({ amount: 'number' }).array() } }),
    'JSON Schema': ofJson,
    'JSON Schema of draft 7': { ...ofJson, $schema: 'http://json-schema.org/draft-07/schema#' },
  }

  test.each(Object.entries(schemas))(
    'of %s: an error names the field, and nothing is claimed',
    async (_, input) => {
      let ran = 0
      const made = benchOf([refundTool({ input, execute: () => ++ran })])
      const wrong = await made.broker.call(
        'issue_refund',
        { order: { lines: [{ amount: 1 }, { amount: 'x' }] } },
        CONTEXT,
      )
      expect(wrong).toMatchObject({
        ok: false,
        error: { code: 'INVALID_ARGUMENTS', retriable: false, fields: [{ field: 'order.lines[1].amount' }] },
        _idempotency: { replay: false, key: null, first_completed_at: null },
      })
      expect(wrong.ok || wrong.error.action).toContain('order.lines[1].amount')
      const missing = await made.broker.call('issue_refund', {}, CONTEXT)
      expect(missing).toMatchObject({ error: { fields: [{ field: 'order' }] } })
      expect(ran).toBe(0)
      expect(await nothingClaimed(made)).toBe(true)
      expect(
        await made.broker.call('issue_refund', { order: { lines: [{ amount: 1 }] } }, CONTEXT),
      ).toMatchObject({ ok: true })
    },
  )

  test('of a schema whose promises are of another realm are checked like others', async () => {
    const ran: unknown[] = []
    const input: InputSchema = { '~standard': { version: 1, vendor: 'elsewhere', validate } }
    const made = benchOf([refundTool({ input, execute: (args: unknown) => ran.push(args) })])
    const refused = await made.broker.call('issue_refund', 'bad', CONTEXT)
    expect(refused).toMatchObject({
      error: { code: 'INVALID_ARGUMENTS', fields: [{ message: 'is not good' }] },
    })
    expect(await made.broker.call('issue_refund', 'good', CONTEXT)).toMatchObject({ ok: true })
    expect(ran).toEqual([{ amount: 1 }])
  })

  test('[R22] that cannot be told from others are refused by name', async () => {
    const made = benchOf([refundTool()])
    const observation = await made.broker.call('issue_refund', { payment: 'p', amount: 2 ** 53 + 2 }, CONTEXT)
    expect(observation).toMatchObject({ error: { code: 'INVALID_ARGUMENTS', fields: [{ field: 'amount' }] } })
    expect(await nothingClaimed(made)).toBe(true)
  })

  const wordy = `long ${'x '.repeat(300)}`
  test.each(['with space', 'with\nline', 'with\u2028separator', 'with "quote" ]', '', wordy])(
    '[R22] %j as the name of one that cannot be told from others: refused, and the program goes on',
    async (name) => {
      const made = benchOf([refundTool({ input: { type: 'object' } })])
      const refused = await made.broker.call('issue_refund', { outer: { [name]: 2 ** 60 } }, CONTEXT)
      const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
      const message = expect.stringMatching(/^is \d+, past/) as string
      expect(refused).toMatchObject({
        error: { code: 'INVALID_ARGUMENTS', fields: [{ field: `outer[${shown}]`, message }] },
      })
      expect(await nothingClaimed(made)).toBe(true)
    },
  )

  test('[R23] that have nothing of an include list are refused', async () => {
    const input = { type: 'object', properties: { order: {}, amount: {} } }
    const made = benchOf([refundTool({ input, identity: { include: ['order', 'amount'] } })])
    expect(errorCode(await made.broker.call('issue_refund', {}, CONTEXT))).toBe('INVALID_ARGUMENTS')
    expect(await nothingClaimed(made)).toBe(true)
  })

  test('are checked by schemas that answer later, and by schemas that throw', async () => {
    const later = z.object({ payment: z.string().refine(async (id) => id.startsWith('pay_')) })
    const throws = z.object({ payment: z.string().transform(() => JSON.parse('{') as unknown) })
    const { broker } = benchOf([refundTool({ input: later }), refundTool({ name: 'throws', input: throws })])
    expect(errorCode(await broker.call('issue_refund', { payment: 'x' }, CONTEXT))).toBe('INVALID_ARGUMENTS')
    expect((await broker.call('issue_refund', { payment: 'pay_1' }, CONTEXT)).ok).toBe(true)
    expect(errorCode(await broker.call('throws', { payment: 'x' }, CONTEXT))).toBe('INVALID_ARGUMENTS')
  })

  test('reach the tool as the schema made them, typed after it', async () => {
    const input = z.object({ amount: z.coerce.number(), note: z.string().default('none') })
    const tool = defineTool({
      name: 'pay',
      version: '1.0.0',
      effect: 'write-non-idempotent',
      input,
      check: (call) =>
        call.args.amount > 0
          ? { found: true, value: { doubled: 0, note: '', same: true } }
          : { found: false },
      outputFor: (result) => result.doubled,
      undo: (result, call) => result.doubled - call.args.amount,
      execute: (args, call) => ({
        doubled: args.amount * 2,
        note: args.note.toUpperCase(),
        same: call.args === args,
      }),
    })
    const ofJson = defineTool({
      name: 'note',
      version: '1.0.0',
      effect: 'write-non-idempotent',
      input: { type: 'object' },
      execute: (args) => Object.keys(args).length,
    })
    const { broker } = benchOf([tool, ofJson])
    expect(await broker.call('pay', { amount: '21' }, CONTEXT)).toMatchObject({
      data: { doubled: 42, note: 'NONE', same: true },
    })
  })
})

test('two tools may have schemas of one $id', async () => {
  const tools = ['string', 'integer'].map((type) =>
    refundTool({ name: type, input: { $id: 'args', type: 'object', properties: { a: { type } } } }),
  )
  const { broker } = benchOf(tools)
  expect((await broker.call('string', { a: 'x' }, CONTEXT)).ok).toBe(true)
  expect(errorCode(await broker.call('integer', { a: 'x' }, CONTEXT))).toBe('INVALID_ARGUMENTS')
})

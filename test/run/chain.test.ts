/**
 * One trigger all the way down, through the guards themselves: a signed webhook hands a message to a queue, its
 * consumer starts a run, a step of the run calls a tool of a broker. Everything comes more than once, and every layer
 * loses an answer; each does its part once, and an audit query tells it as one timeline.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Broker, createBroker, defineTool } from '../../src/guards/broker/index.js'
import { consume, MESSAGE_KEY_HEADER, type Verdict } from '../../src/guards/queue/index.js'
import {
  createRuns,
  decodeChain,
  encodeChain,
  linkOf,
  type Run,
  timeline,
} from '../../src/guards/run/index.js'
import { stripe, webhook } from '../../src/guards/webhook/index.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { type Ledger, ledger } from '../../src/testing/index.js'
import { deliver, stripeVendor } from '../webhook/vendors.js'
import { outlineOf, REFUND_OUTLINE } from './bench.js'

interface Message {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

let folder: string
let effects: Ledger
let opened: Ibid[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ibid-chain-'))
  effects = ledger(join(folder, 'effects.jsonl'))
  opened = []
})

afterEach(async () => {
  await Promise.all(opened.map((ibid) => ibid.close()))
  await rm(folder, { recursive: true, force: true })
})

/** An engine of its own on the one store, as every process has it. */
function openIbid(): Ibid {
  const ibid = createIbid({
    store: sqliteStore(join(folder, 'ibid.db')),
    tenant: 'acme',
    housekeeping: false,
  })
  opened.push(ibid)
  return ibid
}

/** Gives what it is given; the first time the answer does not arrive. */
function loseFirst(): <T>(answer: T) => T {
  let isFirst = true
  return (answer) => {
    if (!isFirst) return answer
    isFirst = false
    throw new TypeError('the answer was lost')
  }
}

/** The ingress: puts events on the queue. The first time it does not hear that it has. */
function openDoor(queue: Message[]) {
  const heard = loseFirst()
  return webhook(openIbid(), {
    source: stripe({ secret: stripeVendor.secret }),
    endpoint: 'refunds',
    enqueue({ headers, body }, attempt) {
      const chain = { 'ibid-chain': encodeChain([linkOf(attempt)]) }
      queue.push({ id: `m${queue.length + 1}`, headers: { ...headers, ...chain }, body })
      heard(undefined)
    },
  })
}

function openBroker(ibid: Ibid): Broker {
  const refund = defineTool<{ payment: string; amount: number }>({
    name: 'issue_refund',
    version: '1.0.0',
    effect: 'write-non-idempotent',
    input: {
      type: 'object',
      properties: { payment: { type: 'string' }, amount: { type: 'integer' }, reason: { type: 'string' } },
      required: ['payment', 'amount'],
    },
    identity: { ignore: ['reason'] },
    execute(args, call) {
      effects.append('refund', { args, key: call.key })
      return { refund: effects.count('refund') }
    },
  })
  return createBroker({ ibid, tools: [refund] })
}

/** A worker in a process of its own: takes messages, runs runs. `lost` is between a tool's answer and its step. */
function openWorker(lost: <T>(answer: T) => T) {
  const ibid = openIbid()
  const runs = createRuns({ ibid, recoverEvery: false })
  const broker = openBroker(ibid)
  const far = {
    call: async (...given: Parameters<Broker['call']>) => lost(await broker.call(...given)),
  }
  async function body(run: Run): Promise<unknown> {
    const payment = await run.step('look up', () => {
      effects.append('look up')
      return 'pay_1'
    })
    const reason = `attempt ${run.attempt}`
    const { amount } = run.trigger as { amount: number }
    const refund = async (step: Pick<Run, 'call'>): Promise<unknown> => {
      const seen = await step.call(far, 'issue_refund', { payment, amount, reason })
      return seen.ok ? seen.data : seen.error
    }
    return await run.step('refund', refund, { recovery: 'retry' })
  }
  const trigger = (key: string, amount: number, via = {}) =>
    runs.start({ agent: 'billing', key, trigger: { amount }, ...via }, body)
  const take = consume<Message, string>(ibid, {
    queue: 'refunds',
    id: ({ id }) => id,
    wait: '30s',
    async handle({ headers, body: bytes }, attempt) {
      const { id, data } = JSON.parse(Buffer.from(bytes).toString()) as {
        id: string
        data: { object: { amount: number } }
      }
      const via = [...decodeChain(headers['ibid-chain']), linkOf(attempt)]
      return (await trigger(id, data.object.amount, { via })).runId
    },
  })
  return { ibid, take, trigger }
}

test('[R20, R46, R50] all comes twice at every layer: each acts once, and it prints as one timeline', async () => {
  const queue: Message[] = []
  const hook = openDoor(queue)
  const post = async (): Promise<number> => (await hook(await deliver(stripeVendor, { id: 'evt_1' }))).status
  // The hand-over is not heard of, so the vendor comes again, and the event is on the queue twice; then come copies.
  expect([await post(), await post()]).toEqual([503, 200])
  expect(await Promise.all([post(), post(), post()])).toEqual([200, 200, 200])
  expect(queue.map(({ headers }) => headers[MESSAGE_KEY_HEADER]).every((key, _, [one]) => key === one)).toBe(
    true,
  )
  expect(queue).toHaveLength(2)

  const lost = loseFirst()
  const [one, other] = [openWorker(lost), openWorker(lost)]
  const [first, copy] = queue as [Message, Message]
  const verdicts: Verdict[] = [await one.take(first)]
  verdicts.push(...(await Promise.all([one.take(first), other.take(copy), other.take(first)])))
  verdicts.push(await one.take(copy))
  expect(verdicts.map(({ kind }) => kind)).toEqual(['retry', 'ack', 'ack', 'ack', 'ack'])
  expect(verdicts.filter((verdict) => verdict.kind === 'ack' && !verdict.replayed)).toHaveLength(1)

  // Somebody who polls finds the same event, and asks for the same run.
  const polled = await other.trigger('evt_1', 14_000)
  expect(polled).toMatchObject({ replayed: true, value: { refund: 1 } })
  expect(verdicts.slice(1)).toEqual(
    verdicts.slice(1).map(() => expect.objectContaining({ value: polled.runId })),
  )
  expect([effects.count('look up'), effects.count('refund')]).toEqual([1, 1])

  await Promise.all(opened.map((ibid) => ibid.close()))
  const told = await timeline(openIbid(), { runId: polled.runId })
  console.log(String(told))
  expect(outlineOf(told)).toEqual(REFUND_OUTLINE)
  const [ingress, message, , run] = told.chain
  expect(ingress).toMatchObject({ scope: 'hook:stripe/refunds', key: 'evt_1' })
  expect(message).toMatchObject({ scope: 'queue:refunds', key: first.headers[MESSAGE_KEY_HEADER] })
  expect(run).toMatchObject({ scope: 'run:billing', key: 'evt_1' })
  expect(effects.all().at(-1)).toMatchObject({ key: 'refund', data: { key: told.chain.at(-1)?.key } })

  const eventsOf = (scope: string, key: string): string[] =>
    told.events.filter((event) => event.scope === scope && event.key === key).map(({ event }) => event)
  for (const { scope, key } of told.chain) {
    expect([scope, eventsOf(scope, key).filter((event) => event === 'settled')]).toEqual([scope, ['settled']])
  }
  // Each layer has met a duplicate: one that was done, or an attempt that had ended without a word.
  for (const layer of ['hook', 'queue', 'trigger', 'run', 'tool']) {
    const { scope, key } = told.chain.find((link) =>
      link.scope.startsWith(`${layer}:`),
    ) as (typeof told.chain)[0]
    expect([layer, eventsOf(scope, key)]).toEqual([layer, expect.arrayContaining(['claimed', 'dedup_hit'])])
  }
  for (const { scope, key, name } of told.chain.filter(({ scope }) => scope.startsWith('step:'))) {
    const again = name === 'look up' ? 'dedup_hit' : 'takeover'
    expect([name, eventsOf(scope, key)]).toEqual([name, expect.arrayContaining(['claimed', again])])
  }
  expect(String(told)).toMatch(/^ *\+\d.* ms {2}hook:stripe\/refunds evt_1 +claimed$/m)
  expect(String(told)).toMatch(/^ *\+\d.* ms {12}tool:issue_refund k1:\S+ +settled$/m)
})

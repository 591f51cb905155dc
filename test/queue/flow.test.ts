/** Many messages at a time: batches, duplicates in flight, progress, and verdicts that cannot be told. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { consume, createDeliveries, poll, type Verdict } from '../../src/guards/queue/index.js'
import { createIbid } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { consumer, failing, keyed, type Message } from './consumer.js'

const batchOf = (count: number): Message[] =>
  Array.from({ length: count }, (_, n) => keyed(`event-${n}`, { id: n }))

test('[R42] a whole batch is claimed in one round trip, and settled in one', async () => {
  const { take, store, runs } = consumer()
  const verdicts = await Promise.all(batchOf(100).map((message) => take(message)))
  expect(verdicts.every(({ kind }) => kind === 'ack')).toBe(true)
  expect(runs).toHaveLength(100)
  expect([store.calls('claim'), store.calls('swap')]).toEqual([1, 1])
})

test('[R6, R42] a copy of a running message goes back for a moment, or waits if it is told to', async () => {
  let finish: ((value: string) => void) | undefined
  const handle = (): Promise<string> => new Promise((resolve) => (finish = resolve))
  const { take } = consumer({ handle })
  const first = take(keyed('a'))
  const copy = await take(keyed('a'))
  expect(copy).toMatchObject({ kind: 'retry', code: 'RETRY_IN_FLIGHT' })
  expect(copy.kind === 'retry' && copy.delayMs).toBeLessThanOrEqual(1_000)
  finish?.('done')
  expect(await first).toMatchObject({ kind: 'ack', value: 'done' })

  const patient = consumer({ handle, wait: '30s' })
  const running = [patient.take(keyed('a')), patient.take(keyed('a'))]
  await until(() => patient.runs.length === 1)
  finish?.('together')
  expect(await Promise.all(running)).toMatchObject([
    { value: 'together' },
    { value: 'together', replayed: true },
  ])
})

test('[R42] the broker hears of progress while the handler runs, and no more after it', async () => {
  const told: unknown[] = []
  const { take } = consumer({
    lease: 150,
    working: ({ id }) => void told.push(id),
    handle: () => until(() => told.length >= 4),
  })
  await take(keyed('a', { id: 'slow' }))
  const heard = told.length
  expect(new Set(told)).toEqual(new Set(['slow']))
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(told).toHaveLength(heard)
})

test('a broker that cannot be told of progress changes nothing', async () => {
  let told = 0
  const working = (): never => {
    told++
    return failing(new Error('the connection is gone'))()
  }
  const { take } = consumer({ lease: 150, working, handle: () => until(() => told >= 2) })
  expect((await take(keyed('a'))).kind).toBe('ack')
})

test('a dead letter that cannot be laid down stays in the queue', async () => {
  const { take } = consumer({ recovery: 'hold', handle: failing(new Error('no')) })
  const told: string[] = []
  const errors: unknown[] = []
  const broker = {
    ack: () => told.push('ack'),
    retry: (_message: Message, { delayMs }: { delayMs: number }) => told.push(`retry ${delayMs}`),
    dead: failing(new Error('the dead letter queue is full')),
  }
  const deliveries = createDeliveries(take, broker, { onError: (error) => errors.push(error) })
  await deliveries.take(keyed('a'))
  expect(told).toEqual(['retry 2000'])
  expect(errors).toHaveLength(1)
})

test('a verdict that cannot be told is reported, and room is made', async () => {
  const { take } = consumer()
  const errors: unknown[] = []
  const seen: Verdict[] = []
  let isDown = true
  const broker = { ack: () => isDown && failing(new Error('closed'))(), retry: () => 0, dead: () => 0 }
  const watch = {
    onError: (error: unknown) => errors.push(error),
    onVerdict: (verdict: Verdict) => seen.push(verdict),
  }
  const deliveries = createDeliveries(take, broker, watch)
  void deliveries.take(keyed('a'))
  expect(deliveries.room(2)).toBeUndefined()
  await deliveries.room(1)
  expect([errors.length, seen.length]).toEqual([1, 0])
  isDown = false
  void deliveries.take(keyed('a'))
  await deliveries.idle()
  expect(seen).toMatchObject([{ kind: 'ack', replayed: true }])
})

test('a broker that cannot be asked is asked again, and stops when it is told to', async () => {
  const { take, runs } = consumer()
  const errors: unknown[] = []
  const answers = [failing(new Error('no network')), () => [keyed('a'), keyed('b')]]
  const deliveries = createDeliveries(take, { ack: () => 0, retry: () => 0, dead: () => 0 })
  const receive = async (most: number, signal: AbortSignal): Promise<readonly Message[]> => {
    expect(most).toBeLessThanOrEqual(10)
    const answer = answers.shift()
    if (answer) return answer()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  }
  const running = poll(deliveries, 10, receive, (error) => errors.push(error))
  await until(() => runs.length === 2)
  await running.stop()
  expect([runs, errors.length]).toEqual([['a', 'b'], 1])
})

test('[R10] a handler that commits with a receipt of its own: one row, whatever fails after it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ibid-queue-'))
  const ibid = createIbid({ store: sqliteStore(join(directory, 'ibid.db')), tenant: 'acme' })
  onTestFinished(async () => {
    await ibid.close()
    await rm(directory, { recursive: true, force: true })
  })
  let failures = 2
  const take = consume<Message>(ibid, {
    queue: 'orders',
    id: ({ id }) => id,
    async handle(_message, { key }) {
      const { value } = await ibid.transact({ scope: 'order', key }, (tx) => {
        tx.run('create table if not exists orders (id text)')
        tx.run('insert into orders values (?)', key)
        return tx.get('select count(*) as rows from orders')
      })
      if (failures-- > 0) throw new Error('the connection broke after the commit')
      return value
    },
  })
  const verdicts = [await take(keyed('a')), await take(keyed('a')), await take(keyed('a'))]
  expect(verdicts).toMatchObject([{ kind: 'retry' }, { kind: 'retry' }, { kind: 'ack', value: { rows: 1 } }])
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

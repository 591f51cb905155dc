/**
 * What can go wrong between a broker and a consumer, once for all brokers. Consumers are processes of their own on one
 * SQLite file; every start of a handler and every effect is a line in a ledger beside it. At the end of each scenario
 * the consumers have stopped, and the queue has to be empty: nothing lost, nothing stuck.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRedis } from '../../scripts/servers/redis.mjs'
import type { Child } from '../../src/testing/process/start.js'
import { ACK_WAIT_MS, Stage, type TestBroker, type ToldVerdict, until, type WorkerSettings } from './stage.js'

interface BrokerModule {
  connectBroker(url: string): Promise<TestBroker>
}

/** A victim comes as far as `hang`, and is killed there; `rescue` is the worker that comes after it. */
async function killed(
  stage: Stage,
  hang: 'before' | 'after' | 'settled',
  settings: WorkerSettings,
): Promise<Child> {
  const victim = await stage.worker({ ...settings, hang })
  // Without a key of its own: what tells the redelivery is the broker's id.
  await stage.broker.publish(stage.queue, { id: 'm' })
  await stage.seen(hang === 'before' ? 'started' : hang === 'after' ? 'effect' : 'settled', 'm')
  await victim.kill()
  return stage.worker(settings)
}

/** The longest first: they are played a few at a time. */
const SCENARIOS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  '[R42] a handler slower than the ack wait, two consumers: it starts once': async (stage) => {
    const settings = { effectMs: ACK_WAIT_MS * 2.5 }
    const workers = await Promise.all([stage.worker(settings), stage.worker(settings)])
    await stage.broker.publish(stage.queue, { id: 'm' }, 'event-m')
    const [end] = await stage.ends(1, ...workers)
    expect(end).toMatchObject({ kind: 'ack' })
    // A broker that hears nothing delivers it to somebody else, who is told that it is in flight.
    const inFlight = (await stage.told(...workers)).filter(({ code }) => code === 'RETRY_IN_FLIGHT')
    expect(inFlight.length > 0 || stage.broker.hasProgress).toBe(true)
    expect([stage.count('started', 'm'), stage.count('effect', 'm')]).toEqual([1, 1])
    await stage.mustBeEmpty()
  },

  '[R42] the same event published three times, twice at once: one effect, every copy acknowledged': async (
    stage,
  ) => {
    const { broker, queue } = stage
    const workers = await Promise.all([stage.worker(), stage.worker()])
    await Promise.all([1, 2].map(() => broker.publish(queue, { id: 'm' }, 'event-m')))
    await stage.ends(2, ...workers)
    await broker.publish(queue, { id: 'm' }, 'event-m')
    await broker.publish(queue, { id: 'other' }, 'event-other')
    const ends = await stage.ends(4, ...workers)
    expect(ends.map(({ kind }) => kind)).toEqual(['ack', 'ack', 'ack', 'ack'])
    expect(ends.filter(({ replayed }) => !replayed)).toHaveLength(2)
    expect([stage.count('started', 'm'), stage.count('effect', 'm')]).toEqual([1, 1])
    expect(stage.count('effect', 'other')).toBe(1)
    await stage.mustBeEmpty()
  },

  '[R42] a key that was used for another payload: never executed, a dead letter': async (stage) => {
    const worker = await stage.worker()
    await stage.broker.publish(stage.queue, { id: 'm', amount: 1 }, 'event-m')
    await stage.ends(1, worker)
    await stage.broker.publish(stage.queue, { id: 'm', amount: 2 }, 'event-m')
    const [, second] = await stage.ends(2, worker)
    expect(second).toMatchObject({ kind: 'dead', code: 'KEY_REUSED' })
    expect(stage.count('started', 'm')).toBe(1)
    await stage.mustBeEmpty(1)
  },

  '[R42, R61] the acknowledgement is lost: the redelivery is acknowledged, and nothing runs again': async (
    stage,
  ) => {
    const rescuer = await killed(stage, 'settled', {})
    const [end] = await stage.ends(1, rescuer)
    expect(end).toMatchObject({ kind: 'ack', replayed: true })
    expect([stage.count('started', 'm'), stage.count('effect', 'm')]).toEqual([1, 1])
    await stage.mustBeEmpty()
  },

  '[R42, R61] killed before the effect: the next delivery has it': async (stage) => {
    const rescuer = await killed(stage, 'before', { recovery: 'retry' })
    const [end] = await stage.ends(1, rescuer)
    expect(end).toMatchObject({ kind: 'ack', replayed: false })
    expect([stage.count('started', 'm'), stage.count('effect', 'm')]).toEqual([2, 1])
    await stage.mustBeEmpty()
  },

  '[R7, R42, R61] killed after the effect, with a check: found, acknowledged, one effect': async (stage) => {
    const rescuer = await killed(stage, 'after', { recovery: 'check' })
    const [end] = await stage.ends(1, rescuer)
    expect(end).toMatchObject({ kind: 'ack', replayed: true })
    expect([stage.count('started', 'm'), stage.count('effect', 'm')]).toEqual([1, 1])
    await stage.mustBeEmpty()
  },

  '[R7, R20, R61] killed after the effect, under retry: again, under the same key, for a downstream to tell':
    async (stage) => {
      const rescuer = await killed(stage, 'after', { recovery: 'retry' })
      const [end] = await stage.ends(1, rescuer)
      expect(end).toMatchObject({ kind: 'ack', replayed: false })
      const effects = stage.effects.all().filter(({ key }) => key === 'effect m')
      expect(effects).toHaveLength(2)
      expect(new Set(effects.map(({ data }) => (data as { readonly key: string }).key)).size).toBe(1)
      await stage.mustBeEmpty()
    },

  '[R7, R42, R61] killed after the effect, under hold: one effect, and a dead letter for a person': async (
    stage,
  ) => {
    const rescuer = await killed(stage, 'after', { recovery: 'hold' })
    const [end] = await stage.ends(1, rescuer)
    expect(end).toMatchObject({ kind: 'dead', code: 'OUTCOME_UNKNOWN' })
    expect([stage.count('started', 'm'), stage.count('effect', 'm')]).toEqual([1, 1])
    await stage.mustBeEmpty(1)
  },

  '[R14, R42] a poison message: tried after a delay, to the limit, then a dead letter; sent again, dead at once':
    async (stage) => {
      const settings = { maxAttempts: 3, retryDelay: 1_000 }
      const workers = await Promise.all([stage.worker(settings), stage.worker(settings)])
      await stage.broker.publish(stage.queue, { id: 'm', poison: true }, 'event-m')
      await stage.broker.publish(stage.queue, { id: 'good' }, 'event-good')
      const ends = await stage.ends(2, ...workers)
      expect(ends.find(({ id }) => id === 'm')).toMatchObject({ kind: 'dead', code: 'OUTCOME_UNKNOWN' })
      expect(stage.pauses('m').map((ms) => ms >= 900)).toEqual([true, true])
      await stage.broker.publish(stage.queue, { id: 'm', poison: true }, 'event-m')
      expect((await stage.ends(3, ...workers)).filter(({ kind }) => kind === 'dead')).toHaveLength(2)
      expect([stage.count('started', 'm'), stage.count('effect', 'good')]).toEqual([3, 1])
      await stage.mustBeEmpty(2)
    },

  '[R12, R42] the store is killed and comes back: nothing runs without it, everything runs after it': async (
    stage,
  ) => {
    const server = await startRedis()
    try {
      const worker = await stage.worker({ store: server.url, guardDelay: 500 })
      await stage.broker.publish(stage.queue, { id: 'first' }, 'event-first')
      await stage.ends(1, worker)
      await server.kill()
      const ids = ['a', 'b', 'c']
      for (const id of ids) await stage.broker.publish(stage.queue, { id }, `event-${id}`)
      const isOut = (told: ToldVerdict[]): boolean =>
        ids.every((id) => told.some((one) => one.id === id && one.code === 'STORE_UNAVAILABLE'))
      const told = await until('refused', () => worker.call<ToldVerdict[]>('verdicts', {}), isOut)
      expect(
        told.filter(({ code }) => code).every(({ kind, delayMs }) => kind === 'retry' && delayMs === 500),
      ).toBe(true)
      expect(ids.map((id) => stage.count('started', id))).toEqual([0, 0, 0])
      await server.restart()
      await stage.ends(4, worker)
      expect(ids.map((id) => stage.count('effect', id))).toEqual([1, 1, 1])
      await stage.mustBeEmpty()
    } finally {
      await server.stop()
    }
  },
}

/** `start` gives the URL of a server; `kind` names the file that speaks to it, in test/fixtures/brokers. */
export function scenarios(
  name: string,
  kind: string,
  start: () => Promise<{ readonly url: string; stop(): Promise<unknown> }>,
): void {
  let server: Awaited<ReturnType<typeof start>> | undefined
  let broker: TestBroker

  beforeAll(async () => {
    server = await start()
    const { connectBroker } = (await import(`../fixtures/brokers/${kind}.mjs`)) as BrokerModule
    broker = await connectBroker(server.url)
  }, 120_000)

  afterAll(async () => {
    await broker?.close()
    await server?.stop()
  })

  describe.concurrent(name, () => {
    test.each(Object.entries(SCENARIOS).map(([title, play], n) => [title, play, `q${n}`] as const))(
      '%s',
      { timeout: 120_000 },
      async (_title, play, queue) => {
        const directory = await mkdtemp(join(tmpdir(), 'ibid-queue-'))
        const stage = new Stage(kind, server?.url as string, broker, queue, directory)
        try {
          await broker.makeQueue(queue, ACK_WAIT_MS)
          await play(stage)
        } finally {
          await stage.clear()
        }
      },
    )
  })
}

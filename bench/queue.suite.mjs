/**
 * A consumer behind the queue guard against the same consumer without it. The bound is for a handler with an effect,
 * one HTTP request, which is what a guard is for; with a handler that does nothing, all that is left to compare is the
 * price of two writes with the price of a message: on disk before the answer in SQLite, within a second in Redis, as a
 * stream of JetStream has its messages within minutes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { startNats } from '../scripts/servers/nats.mjs'
import { startRedis } from '../scripts/servers/redis.mjs'
import { emptyRedis } from './empty.mjs'
import { resultOf } from './workload.mjs'

const MODULE = 'queue.mjs'

/** The effect's other end, in the process that waits while the measured one works. */
async function startEffect() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end(JSON.stringify(resultOf('bench'))))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const startEverySecond = () =>
  startRedis({ settings: { appendfsync: 'everysec', 'auto-aof-rewrite-percentage': '0' } })

const sized = (quick) => (full) => (quick ? Math.ceil(full / 20) : full)

async function openNats({ quick }) {
  const [server, redis, effect] = [await startNats(), await startEverySecond(), await startEffect()]
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ibid-bench-'))
  return {
    url: server.url,
    effect: effect.url,
    stores: { sqlite: `sqlite:${path.join(folder, 'ibid.db')}`, redis: redis.url },
    size: sized(quick),
    empty: () => emptyRedis(redis.url),
    async close() {
      await Promise.all([server.stop(), redis.stop(), effect.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function openRedis({ quick }) {
  const [server, effect] = [await startEverySecond(), await startEffect()]
  return {
    url: server.url,
    effect: effect.url,
    stores: { redis: server.url },
    size: sized(quick),
    empty: () => emptyRedis(server.url),
    close: () => Promise.all([server.stop(), effect.stop()]),
  }
}

const cell = (name, call, count, callers, { withEffect = false, store } = {}) => ({
  name,
  unit: '/s',
  measure: ({ url, effect, stores, size }) => ({
    module: MODULE,
    call,
    settings: { url, store: stores[store], count: size(count), callers, ...(withEffect ? { effect } : {}) },
  }),
})

const jetStream = {
  title: 'JetStream, messages through one consumer, 256 at a time',
  rounds: 3,
  open: openNats,
  cells: [
    cell('one request, no guard', 'jetStreamPlain', 10_000, 256, { withEffect: true }),
    cell('one request, receipts in SQLite', 'jetStreamGuarded', 10_000, 256, {
      withEffect: true,
      store: 'sqlite',
    }),
    cell('no effect, no guard', 'jetStreamPlain', 60_000, 256),
    cell('no effect, receipts in SQLite', 'jetStreamGuarded', 60_000, 256, { store: 'sqlite' }),
    cell('no effect, receipts in Redis', 'jetStreamGuarded', 60_000, 256, { store: 'redis' }),
  ],
  ratios: [
    { of: 'one request, receipts in SQLite', to: 'one request, no guard', atLeast: 0.6 },
    { of: 'no effect, receipts in SQLite', to: 'no effect, no guard', atLeast: 0.6 },
    { of: 'no effect, receipts in Redis', to: 'no effect, no guard', atLeast: 0.6 },
  ],
}

const bullmq = {
  title: 'BullMQ, jobs through one worker, 100 at a time, receipts in the same Redis, AOF every second',
  rounds: 3,
  open: openRedis,
  cells: [
    cell('one request, no guard', 'bullmqPlain', 10_000, 100, { withEffect: true }),
    cell('one request, guard', 'bullmqGuarded', 10_000, 100, { withEffect: true, store: 'redis' }),
    cell('no effect, no guard', 'bullmqPlain', 20_000, 100),
    cell('no effect, guard', 'bullmqGuarded', 20_000, 100, { store: 'redis' }),
  ],
  ratios: [
    { of: 'one request, guard', to: 'one request, no guard', atLeast: 0.6 },
    { of: 'no effect, guard', to: 'no effect, no guard', atLeast: 0.6 },
  ],
}

export const suites = [jetStream, bullmq]

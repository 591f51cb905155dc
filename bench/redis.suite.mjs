/** The Redis store against commands that check nothing, and against published packages, on one server. */
import { startRedis } from '../scripts/servers/redis.mjs'
import { emptyRedis } from './empty.mjs'
import { ensurePeers } from './peers/install.mjs'

const OURS = 'cells.mjs'
const PEERS = 'peers/redis.mjs'

async function openServer({ quick, say }) {
  ensurePeers(say)
  const server = await startRedis({
    settings: { appendfsync: 'everysec', 'auto-aof-rewrite-percentage': '0' },
  })
  return {
    url: server.url,
    size: (full) => (quick ? Math.ceil(full / 20) : full),
    ms: quick ? 300 : 3_000,
    empty: () => emptyRedis(server.url),
    close: () => server.stop(),
  }
}

const timed = (call) => ({ measure: ({ url, ms }) => ({ module: OURS, call, settings: { url, ms } }) })
const cell = (module, call, settings) => ({
  measure: ({ url, size }) => ({ module, call, settings: { ...settings, url, count: size(settings.count) } }),
})

const throughput = {
  title: 'Redis, new actions (claim + settle), AOF every second, 256 callers',
  rounds: 5,
  open: openServer,
  cells: [
    { name: 'raw, SET NX + SET XX, pipelined', unit: '/s', ...timed('redisPipelined') },
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourActions', { count: 60_000, callers: 256 }) },
    {
      name: '@node-idempotency/core',
      unit: '/s',
      ...cell(PEERS, 'nodeIdempotency', { count: 30_000, callers: 256 }),
    },
    { name: 'AWS Powertools', unit: '/s', ...cell(PEERS, 'powertools', { count: 20_000, callers: 256 }) },
  ],
  ratios: [
    { of: 'ibid', to: 'raw, SET NX + SET XX, pipelined', atLeast: 0.85 },
    { of: 'ibid', to: '@node-idempotency/core', atLeast: 1.2 },
    { of: 'ibid', to: 'AWS Powertools', atLeast: 2 },
  ],
}

const latency = {
  title: 'Redis, one caller',
  rounds: 3,
  open: openServer,
  cells: [
    { name: 'raw, two round trips', unit: 'µs', ...timed('redisOneCaller') },
    { name: 'ibid', unit: 'µs', ...cell(OURS, 'ourOneCaller', { count: 5_000 }) },
  ],
  ratios: [{ of: 'ibid', to: 'raw, two round trips', atMost: 1.2 }],
}

const reading = {
  title: 'Redis, duplicates answered from the store, 256 callers',
  rounds: 3,
  open: openServer,
  cells: [
    { name: 'raw, GET by key', unit: '/s', ...timed('redisGet') },
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourReplays', { count: 60_000, callers: 256, cached: false }) },
  ],
  ratios: [{ of: 'ibid', to: 'raw, GET by key', atLeast: 0.8 }],
}

export const suites = [throughput, latency, reading]

/** The Postgres store against SQL by hand and against DBOS, on one server. */
import { startPostgres } from '../scripts/servers/postgres.mjs'
import { ensurePeers } from './peers/install.mjs'

const RAW = 'raw-postgres.mjs'
const OURS = 'cells.mjs'

async function openServer({ quick, say }) {
  ensurePeers(say)
  const server = await startPostgres()
  return {
    url: server.url,
    size: (full) => (quick ? Math.ceil(full / 20) : full),
    close: () => server.stop(),
  }
}

const cell = (module, call, settings) => ({
  measure: ({ url, size }) => ({ module, call, settings: { ...settings, url, count: size(settings.count) } }),
})

const throughput = {
  title: 'Postgres, new actions (claim + settle), synchronous commit, 256 callers',
  rounds: 3,
  open: openServer,
  cells: [
    { name: 'raw, batches of 256', unit: '/s', ...cell(RAW, 'batched', { count: 60_000 }) },
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourActions', { count: 60_000, callers: 256 }) },
    { name: 'naive, two statements', unit: '/s', ...cell(RAW, 'naive', { count: 10_000 }) },
    {
      name: 'DBOS, a workflow of one step',
      unit: '/s',
      ...cell('peers/postgres.mjs', 'dbos', { count: 1_500, callers: 256 }),
    },
  ],
  ratios: [
    { of: 'ibid', to: 'raw, batches of 256', atLeast: 0.6 },
    { of: 'ibid', to: 'naive, two statements', atLeast: 6 },
    { of: 'ibid', to: 'DBOS, a workflow of one step', atLeast: 50 },
  ],
}

const latency = {
  title: 'Postgres, one caller',
  rounds: 3,
  open: openServer,
  cells: [
    { name: 'raw, two round trips', unit: '/s', ...cell(RAW, 'roundTrips', { count: 3_000 }) },
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourActions', { count: 3_000, callers: 1, warmUp: 300 }) },
  ],
  ratios: [{ of: 'raw, two round trips', to: 'ibid', atMost: 1.2 }],
}

const reading = {
  title: 'Postgres, duplicates answered from the store, 256 callers',
  rounds: 3,
  open: openServer,
  cells: [
    { name: 'raw, SELECT by key', unit: '/s', ...cell(RAW, 'selects', { count: 40_000 }) },
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourReplays', { count: 40_000, callers: 256, cached: false }) },
  ],
  ratios: [{ of: 'ibid', to: 'raw, SELECT by key', atLeast: 0.8 }],
}

export const suites = [throughput, latency, reading]

/** The Postgres store against SQL by hand and against DBOS, on one server. */
import { startPostgres } from '../scripts/servers/postgres.mjs'
import { emptyPostgres } from './empty.mjs'
import { ensurePeers } from './peers/install.mjs'

const RAW = 'raw-postgres.mjs'
const OURS = 'cells.mjs'

async function openServer({ quick, say }) {
  ensurePeers(say)
  const server = await startPostgres()
  return {
    url: server.url,
    size: (full) => (quick ? Math.ceil(full / 20) : full),
    empty: () => emptyPostgres(server.url),
    close: () => server.stop(),
  }
}

const cell = (module, call, settings) => ({
  measure: ({ url, size }) => ({ module, call, settings: { ...settings, url, count: size(settings.count) } }),
})

const throughput = {
  title: 'Postgres, new actions (claim + settle), synchronous commit, 256 callers',
  rounds: 5,
  open: openServer,
  cells: [
    { name: 'raw, batches of 256', unit: '/s', ...cell(RAW, 'batched', { count: 60_000 }) },
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourActions', { count: 60_000, callers: 256 }) },
    { name: 'naive, two statements', unit: '/s', ...cell(RAW, 'naive', { count: 10_000 }) },
    {
      name: 'DBOS, a workflow of one step',
      unit: '/s',
      ...cell('peers/dbos.mjs', 'actions', { count: 1_500, callers: 256 }),
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
    { name: 'ibid', unit: '/s', ...cell(OURS, 'ourActions', { count: 3_000, callers: 1 }) },
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

/** Two servers, so that neither has the other's pages in its memory. */
async function openFilled({ quick, say, measure }) {
  const sizes = { few: 100_000, many: quick ? 500_000 : 10_000_000 }
  const servers = {}
  for (const [name, count] of Object.entries(sizes)) {
    servers[name] = await startPostgres()
    say(`filling a table with ${count.toLocaleString('en')} receipts`)
    // Some have ended, for the housekeeping to find.
    const ended = name === 'many' ? count / 20 : 0
    await measure(OURS, 'fillPostgres', { url: servers[name].url, count, ended })
  }
  return {
    url: (name) => servers[name].url,
    size: (full) => (quick ? Math.ceil(full / 20) : full),
    close: async () => {
      for (const server of Object.values(servers)) await server.stop()
    },
  }
}

const onFilled = (name, call) => ({
  measure: ({ url, size }) => ({
    module: OURS,
    call,
    settings: { url: url(name), count: size(60_000), callers: 256 },
  }),
})

const growth = {
  title: 'Postgres as it fills up, new actions, 256 callers',
  rounds: 3,
  open: openFilled,
  cells: [
    { name: '100,000 receipts', unit: '/s', ...onFilled('few', 'ourActionsOnFull') },
    { name: '10 million', unit: '/s', ...onFilled('many', 'ourActionsOnFull') },
    { name: '10 million, while expiry runs', unit: '/s', ...onFilled('many', 'ourActionsWhileExpiring') },
  ],
  ratios: [
    { of: '10 million', to: '100,000 receipts', atLeast: 0.7 },
    { of: '10 million, while expiry runs', to: '100,000 receipts', atLeast: 0.7 },
  ],
}

export const suites = [throughput, latency, reading, growth]

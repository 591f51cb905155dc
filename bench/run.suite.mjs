/** Steps of runs against steps of DBOS workflows, on one Postgres, with the same payloads, results and callers. */
import { startPostgres } from '../scripts/servers/postgres.mjs'
import { emptyPostgres } from './empty.mjs'
import { ensurePeers } from './peers/install.mjs'

async function openServer({ quick, say }) {
  ensurePeers(say)
  const server = await startPostgres()
  return {
    url: server.url,
    size: (full) => (quick ? Math.ceil(full / 10) : full),
    empty: () => emptyPostgres(server.url),
    close: () => server.stop(),
  }
}

const cell = (module, call, settings) => ({
  measure: ({ url, size }) => ({ module, call, settings: { ...settings, url, count: size(settings.count) } }),
})

const SHAPE = { steps: 20, callers: 256 }

const steps = {
  title: 'Postgres, runs of twenty steps, synchronous commit, 256 callers',
  rounds: 5,
  open: openServer,
  cells: [
    { name: 'ibid/run', unit: 'steps/s', ...cell('cells.mjs', 'ourRunSteps', { ...SHAPE, count: 5_000 }) },
    {
      name: 'DBOS',
      unit: 'steps/s',
      ...cell('peers/dbos.mjs', 'steps', { ...SHAPE, count: 512 }),
    },
  ],
  ratios: [{ of: 'ibid/run', to: 'DBOS', atLeast: 20 }],
}

export const suites = [steps]

/** The embedded store against the best that SQLite gives by hand. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

const RAW = 'raw-sqlite.mjs'
const OURS = 'cells.mjs'

async function openFolder({ quick }) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ibid-bench-'))
  return {
    file: (name) => path.join(folder, `${name}.db`),
    size: (full) => (quick ? Math.ceil(full / 20) : full),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

const raw = (call, count) => ({
  measure: ({ file, size }) => ({ module: RAW, call, settings: { file: file('raw'), count: size(count) } }),
})
const ours = (call, settings) => ({
  measure: ({ file, size }) => ({
    module: OURS,
    call,
    settings: { ...settings, url: `sqlite:${file('ours')}`, count: size(settings.count) },
  }),
})

const throughput = {
  title: 'SQLite, new actions (claim + settle), durable, 256 callers',
  rounds: 5,
  open: openFolder,
  cells: [
    { name: 'raw, batches of 256', unit: '/s', ...raw('rawBatched', 60_000) },
    { name: 'ibid', unit: '/s', ...ours('ourActions', { count: 60_000, callers: 256 }) },
    { name: 'naive, a commit per write', unit: '/s', ...raw('rawNaive', 3_000) },
  ],
  ratios: [
    { of: 'ibid', to: 'raw, batches of 256', atLeast: 0.7 },
    { of: 'ibid', to: 'naive, a commit per write', atLeast: 10 },
  ],
}

const latency = {
  title: 'SQLite, one caller',
  rounds: 9,
  open: openFolder,
  cells: [
    { name: 'raw, two durable commits', unit: 'µs', ...raw('rawCommits', 3_000) },
    { name: 'ibid', unit: 'µs', ...ours('ourOneCaller', { count: 3_000 }) },
  ],
  ratios: [{ of: 'ibid', to: 'raw, two durable commits', atMost: 1.25 }],
}

const replaying = {
  title: 'Duplicates of settled actions, answered from the cache',
  rounds: 3,
  open: openFolder,
  cells: [
    {
      name: '256 callers',
      unit: '/s',
      ...ours('ourReplays', { count: 1_000_000, callers: 256, cached: true }),
    },
    { name: 'one caller', unit: '/s', ...ours('ourReplays', { count: 1_000_000, callers: 1, cached: true }) },
  ],
  ratios: [{ of: '256 callers', to: 500_000, atLeast: 1 }],
}

async function openFilled(context) {
  const folder = await openFolder(context)
  const filled = { few: 10_000, many: context.quick ? 250_000 : 5_000_000 }
  for (const [name, count] of Object.entries(filled)) {
    context.say(`filling a file with ${count.toLocaleString('en')} receipts`)
    await context.measure(OURS, 'fillStore', { url: `sqlite:${folder.file(name)}`, count })
  }
  return folder
}

const onFull = (name) => ({
  measure: ({ file, size }) => ({
    module: OURS,
    call: 'ourActionsOnFull',
    settings: { url: `sqlite:${file(name)}`, count: size(40_000), callers: 256 },
  }),
})

const growth = {
  title: 'SQLite as it fills up, new actions, 256 callers',
  rounds: 3,
  open: openFilled,
  cells: [
    { name: '10,000 receipts in the file', unit: '/s', ...onFull('few') },
    { name: '5 million receipts in the file', unit: '/s', ...onFull('many') },
  ],
  ratios: [{ of: '5 million receipts in the file', to: '10,000 receipts in the file', atLeast: 0.6 }],
}

export const suites = [throughput, latency, replaying, growth]

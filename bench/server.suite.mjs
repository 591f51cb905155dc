/**
 * The server over sockets, on embedded SQLite: batched claims, and the reverse proxy against a plain Node proxy that
 * knows nothing of keys. Load comes from the same machine, and takes its share of the cores.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { ensureDebian } from '../scripts/servers/debian.mjs'

const MODULE = 'server-load.mjs'

async function open({ quick }) {
  await ensureDebian(['wrk'], ['/usr/bin/wrk'])
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ibid-bench-server-'))
  return { folder, seconds: quick ? 1 : 6, close: () => rm(folder, { recursive: true, force: true }) }
}

const cell = (name, unit, call, more = {}) => ({
  name,
  unit,
  measure: ({ folder, seconds }) => ({ module: MODULE, call, settings: { folder, seconds, ...more } }),
})

const BATCHED = { connections: 4, batch: 500 }

const claims = {
  title: 'Claims over HTTP, durable, 4 connections, batches of 500',
  rounds: 3,
  open,
  cells: [
    cell('claims', 'claims/s', 'claimsPerSecond', BATCHED),
    cell('p99 of a batch', 'ms', 'batchP99', BATCHED),
    cell('one claim a request, 64 connections', 'claims/s', 'claimsPerSecond', { connections: 64, batch: 1 }),
  ],
  ratios: [{ of: 'claims', to: 20_000, atLeast: 1 }],
}

const proxy = {
  title: 'The proxy, 128 connections, a refund of 300 bytes, each with a key of its own',
  rounds: 3,
  open,
  cells: [
    cell('plain Node proxy', 'requests/s', 'proxied', { app: 'plain' }),
    cell('ibid serve --upstream', 'requests/s', 'proxied', { app: 'ibid' }),
    cell('ibid serve --upstream, replays', 'requests/s', 'proxied', { app: 'ibid', same: true }),
  ],
  ratios: [{ of: 'ibid serve --upstream', to: 'plain Node proxy', atLeast: 0.5 }],
}

export const suites = [claims, proxy]

/**
 * The HTTP guard on embedded SQLite against the same app without it, and against published guards, which keep what
 * they know in memory. Load comes from wrk, on the same machine: it takes its share of the cores from all alike.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { ensureDebian } from '../scripts/servers/debian.mjs'
import { ensurePeers } from './peers/install.mjs'

async function open({ quick, say }) {
  await ensureDebian(['wrk'], ['/usr/bin/wrk'])
  ensurePeers(say)
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ibid-bench-http-'))
  return { folder, seconds: quick ? 1 : 6, close: () => rm(folder, { recursive: true, force: true }) }
}

const cell = (name, app, same = false) => ({
  name,
  unit: 'requests/s',
  measure: ({ folder, seconds }) => ({
    module: 'http-load.mjs',
    call: 'requests',
    settings: { app, folder, seconds, connections: 128, same },
  }),
})

const overhead = {
  title: 'HTTP, 128 connections, a refund of 300 bytes',
  rounds: 3,
  open,
  cells: [
    cell('Hono, no guard', 'hono-bare'),
    cell('Hono, ibid', 'hono-ibid'),
    cell('Hono, ibid, replays', 'hono-ibid', true),
    cell('Fastify, no guard', 'fastify-bare'),
    cell('Fastify, ibid', 'fastify-ibid'),
    cell('Fastify, ibid, replays', 'fastify-ibid', true),
    cell('Fastify, @node-idempotency/core in memory', 'fastify-node-idempotency'),
    cell('Fastify, @node-idempotency/core, replays', 'fastify-node-idempotency', true),
    cell('Express, no guard', 'express-bare'),
    cell('Express, ibid', 'express-ibid'),
    cell('Express, ibid, replays', 'express-ibid', true),
    cell('Express, express-idempotency in memory', 'express-idempotency'),
    cell('Express, express-idempotency, replays', 'express-idempotency', true),
  ],
  ratios: [
    { of: 'Hono, ibid', to: 'Hono, no guard', atLeast: 0.6 },
    { of: 'Hono, ibid, replays', to: 'Hono, no guard', atLeast: 0.8 },
    { of: 'Fastify, ibid', to: 'Fastify, no guard', atLeast: 0.6 },
    { of: 'Fastify, ibid, replays', to: 'Fastify, no guard', atLeast: 0.8 },
  ],
}

export const suites = [overhead]

/**
 * `npm run peers`: the zombie, mismatch, crash and collision scenarios against published packages and against
 * ibid, as each one's documentation says to use it; prints one table and keeps it in docs/peers.md. Real
 * processes, real signals, real servers; DynamoDB is Amazon's emulator.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePeers } from '../bench/peers/install.mjs'
import { crash, mismatch, operations, tenants, zombie } from './peers/scenarios.mjs'
import { startDynamodb } from './servers/dynamodb.mjs'
import { startRedis } from './servers/redis.mjs'
import { createTable } from './peers/dynamodb-table.mjs'

const SCENARIOS = { zombie, mismatch, crash, tenants, operations }
const LOCK_MS = 2_000
const PAGE = new URL('../docs/peers.md', import.meta.url)
const IN_MEMORY = 'it keeps its locks in the memory of one process'

const root = new URL('..', import.meta.url)
const version = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))
const peerVersion = (name) => version('bench/peers/package.json').dependencies[name]

/** `url` is a function of the servers and the folder of one scenario. */
const PEERS = [
  {
    name: `ibid ${version('package.json').version}`,
    store: 'SQLite',
    file: 'ibid',
    url: (_, folder) => `sqlite:${folder}/ibid.db`,
  },
  {
    name: `ibid ${version('package.json').version}`,
    store: 'Redis',
    file: 'ibid',
    url: ({ redis }) => redis.url,
  },
  {
    name: `@aws-lambda-powertools/idempotency ${peerVersion('@aws-lambda-powertools/idempotency')}`,
    store: 'DynamoDB (emulator)',
    file: 'powertools',
    url: ({ dynamodb }) => dynamodb.endpoint,
  },
  {
    name: `@aws-lambda-powertools/idempotency ${peerVersion('@aws-lambda-powertools/idempotency')}`,
    store: 'Redis',
    file: 'powertools',
    url: ({ redis }) => redis.url,
  },
  {
    name: `@node-idempotency/core ${peerVersion('@node-idempotency/core')}`,
    store: 'Redis',
    file: 'node-idempotency',
    url: ({ redis }) => redis.url,
  },
  {
    name: `express-idempotency ${peerVersion('express-idempotency')}`,
    store: 'memory',
    file: 'express-idempotency',
    url: () => '',
    skips: { zombie: IN_MEMORY, crash: IN_MEMORY },
  },
  {
    name: `idempotency-backend ${peerVersion('idempotency-backend')}`,
    store: 'JSON file',
    file: 'idempotency-backend',
    url: () => '',
  },
]

async function runPeers(say) {
  ensurePeers(say)
  const [redis, dynamodb] = await Promise.all([startRedis(), startDynamodb()])
  const rows = []
  try {
    for (const { name, store, file, url, skips = {} } of PEERS) {
      const cells = {}
      for (const [scenario, play] of Object.entries(SCENARIOS)) {
        if (skips[scenario]) {
          cells[scenario] = { text: `not run: ${skips[scenario]}` }
          continue
        }
        const folder = mkdtempSync(join(tmpdir(), 'ibid-peers-'))
        try {
          await redis.cli('FLUSHALL')
          await createTable(dynamodb)
          const settings = { folder, lockMs: LOCK_MS, url: url({ redis, dynamodb }, folder) }
          const module = new URL(`peers/packages/${file}.mjs`, import.meta.url).href
          cells[scenario] = await play({ module, settings })
          say(`${name} on ${store}, ${scenario}: ${cells[scenario].text}`)
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }
      rows.push({ name, store, cells })
    }
  } finally {
    await Promise.all([redis.stop(), dynamodb.stop()])
  }
  return rows
}

const line = (cells) => `| ${cells.join(' | ')} |`
const shown = ({ good, text }) => (good === undefined ? text : `${good ? '✓' : '✗'} ${text}`)

function tableOf(rows) {
  const names = Object.keys(SCENARIOS)
  const head = [
    'package',
    'store',
    'zombie',
    'mismatch',
    'crash',
    'collision: tenants',
    'collision: operations',
  ]
  const body = rows.map(({ name, store, cells }) => [name, store, ...names.map((each) => shown(cells[each]))])
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')
}

async function main() {
  const started = Date.now()
  const rows = await runPeers((text) => process.stderr.write(`${text}\n`))
  const table = tableOf(rows)
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: root })
  const seconds = Math.round((Date.now() - started) / 1_000)
  const day = new Date(started).toISOString().slice(0, 10)
  const stamp = `Last run: commit ${stdout.trim()}, Node ${process.versions.node}, ${day}, ${seconds} s.`
  console.log(`${table}\n\n${stamp}`)
  const page = readFileSync(PAGE, 'utf8')
  const kept = /(<!-- table -->\n)[^]*(\n<!-- end of table -->)/
  writeFileSync(
    PAGE,
    page.replace(kept, (_, before, after) => `${before}\n${table}\n\n${stamp}\n${after}`),
  )
  if (
    rows.some(({ name, cells }) => name.startsWith('ibid ') && Object.values(cells).some(({ good }) => !good))
  )
    process.exitCode = 1
}

await main()

/**
 * A process killed with SIGKILL at every point between claim and settle, on every store that runs here, under every
 * policy; round after round, until enough kills or the time is up. Effects are counted in a ledger outside the store.
 * In the first round each attempt has a process, which kills itself at the point. After that many attempts share one:
 * each is stopped at its point, and when all have stopped they are killed together.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { readTally } from '../results.mjs'
import { startPostgres } from '../servers/postgres.mjs'
import { startRedis } from '../servers/redis.mjs'

const KILLS = 50_000
const MINUTES = Number(process.env.IBID_TRUST_CRASH_MINUTES ?? 45)
const fixture = (name) => new URL(`../../test/fixtures/${name}-store.mjs`, import.meta.url)
const FIRST = { leaseMs: 300, lanes: 6 }
/** With so many in a process, an answer may take longer than half of a short lease: then nothing would be begun. */
const LATER = { leaseMs: 1_000, lanes: 6, together: 36, rounds: 20 }
const QUICK = { ...FIRST, points: ['before claim', 'after effect', ['after effect', 'before settle']] }
const SHORT = `stopped when its time was up, short of ${KILLS.toLocaleString('en')} kills`
const ALL = ['hold', 'check', 'retry', 'atomic']

export const crashes = {
  id: 'crashes',
  property: 'A crash at any point between claim and settle breaks no promise',
  async run({ quick, progress }) {
    const { crashMatrix } = await import('../../dist/testing/index.js')
    const stores = quick ? [sqlite] : [sqlite, await postgres(), await redis()]
    const books = new Map(stores.map(({ name }) => [name, { kills: 0, cells: 0, violations: [] }]))
    const killed = () => [...books.values()].reduce((sum, { kills }) => sum + kills, 0)
    const most = quick ? 1 : KILLS
    const stopMs = performance.now() + MINUTES * 60_000
    const folder = mkdtempSync(path.join(os.tmpdir(), 'ibid-trust-'))
    const tally = path.join(folder, 'tally.jsonl')
    process.env.IBID_TEST_TALLY = tally
    let size = quick ? QUICK : FIRST
    try {
      do {
        for (const { name, policies } of stores) {
          const module = fixture(name)
          // At their points these hold the lock of a whole file: they have a process each, and go round once.
          const atomic = policies.filter((policy) => policy === 'atomic')
          const others = policies.filter((policy) => policy !== 'atomic')
          const cells = await crashMatrix({ ...size, module, policies: others })
          cells.push(...(await crashMatrix({ ...size, rounds: 1, module, policies: atomic })))
          const book = books.get(name)
          for (const cell of cells) {
            book.cells++
            book.kills += cell.killed.filter(Boolean).length
            // Where nobody was killed, nothing was tried, and a count of zero would hide it.
            const wrong =
              cell.violation ?? (cell.killed.includes(false) ? 'a point was not reached' : undefined)
            if (wrong) book.violations.push(`${name}: ${cell.policy}, ${cell.points}: ${wrong}`)
          }
          progress(`${killed()} kills`)
        }
        size = LATER
      } while (killed() < most && performance.now() < stopMs)
      const processes = readTally(tally).kills ?? 0
      // Both ways of dying: alone, and with others.
      const forgetful = { module: fixture('forgetful'), policies: ['hold'], points: ['after effect'] }
      const control = await Promise.all([
        crashMatrix(forgetful),
        crashMatrix({ ...forgetful, rounds: 2, together: 2 }),
      ])
      const violations = [...books.values()].flatMap((book) => book.violations)
      return {
        ran: {
          'attempts killed': killed(),
          'processes killed': processes,
          cells: [...books.values()].reduce((sum, { cells }) => sum + cells, 0),
          stores: stores.length,
        },
        tried: killed(),
        violations: violations.length,
        control: { planted: control.length, caught: control.filter(isCaught).length },
        note: killed() < most ? SHORT : undefined,
        details: [
          ...[...books].map(([name, { kills, cells }]) => `${name}: ${kills} kills in ${cells} cells`),
          ...violations.slice(0, 20),
        ],
      }
    } finally {
      await Promise.all(stores.map(({ stop }) => stop()))
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** In every cell: a control that is seen without a kill shows nothing of kills. */
const isCaught = (cells) =>
  cells.every(({ violation, killed }) => violation !== undefined && killed.every(Boolean))

const sqlite = { name: 'sqlite', policies: ALL, stop: async () => {} }

async function postgres() {
  const server = await startPostgres()
  process.env.IBID_TEST_POSTGRES_URL = server.url
  return { name: 'postgres', policies: ALL, stop: () => server.stop() }
}

async function redis() {
  const server = await startRedis()
  process.env.IBID_TEST_REDIS_URL = server.url
  return { name: 'redis', policies: ['hold', 'check', 'retry'], stop: () => server.stop() }
}

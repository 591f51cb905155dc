/**
 * Workers whose own clocks are wrong, by up to years, on stores that have a clock of their own: they call for the same
 * keys while others hold them, under a policy that would repeat a lapsed attempt. A lease is the store's to judge, so
 * nobody takes over what is alive. The control is a store whose clock is the caller's.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../servers/postgres.mjs'
import { startRedis } from '../servers/redis.mjs'
import { runNode } from './work.mjs'

const WORKER = fileURLToPath(new URL('skew-worker.mjs', import.meta.url))
const HOUR_MS = 3_600_000
const SKEWS_MS = [-10 * 8_760, -24, -1, 1, 24, 10 * 8_760].map((hours) => hours * HOUR_MS)

export const skew = {
  id: 'skew',
  property: "No clock of a worker, however wrong, ends another worker's lease",
  async run({ quick, progress }) {
    const servers = [await startRedis(), ...(quick ? [] : [await startPostgres()])]
    const skewsMs = quick ? [SKEWS_MS.at(-1)] : SKEWS_MS
    const keys = quick ? 40 : 400
    const found = []
    let tried = 0
    try {
      for (const { url } of servers) {
        const name = url.split(':')[0]
        for (const skewMs of skewsMs) {
          progress(`${name}, ${skewMs / HOUR_MS} h`)
          const ended = await contend(`server ${url}`, skewMs, keys)
          tried += keys
          found.push(...ended.map((what) => `${name}, ${skewMs / HOUR_MS} h: ${what}`))
        }
      }
      // Within the window the effect is repeated; past it nobody repeats anything, and the lease is ended all the same.
      const control = [await contend('own', HOUR_MS, 40), await contend('own', SKEWS_MS.at(-1), 40)]
      return {
        ran: { 'contended calls': tried, skews: skewsMs.length, stores: servers.length },
        tried,
        violations: found.length,
        control: { planted: control.length, caught: control.filter((ended) => ended.length > 0).length },
        note: `skews of ${skewsMs.map((ms) => `${ms / HOUR_MS} h`).join(', ')}`,
        details: found.slice(0, 10),
      }
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
    }
  },
}

/** One worker with a true clock, given the keys first, and one with a wrong one: the leases that came to an end. */
async function contend(store, skewMs, keys) {
  const folder = await mkdtemp(path.join(tmpdir(), 'ibid-skew-'))
  const [kind, url = path.join(folder, 'ibid.db')] = store.split(' ')
  const order = (worker, by) => [WORKER, JSON.stringify({ worker, kind, url, folder, keys, skewMs: by })]
  try {
    const runs = await Promise.all([runNode(order('holder', 0)), runNode(order('other', skewMs))])
    const failed = runs.find(({ code }) => code !== 0)
    if (failed) throw new Error(`a worker failed: ${failed.stderr.slice(-300)}`)
    const effects = await lines(folder, 'effects.txt')
    const twice = effects.filter((key, at) => effects.indexOf(key) !== at)
    return [...new Set([...twice, ...(await lines(folder, 'ended.txt'))])]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function lines(folder, name) {
  const text = await readFile(path.join(folder, name), 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean)
}

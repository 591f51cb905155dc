/** Our measurements by the URL of a store, and raw ones that take other arguments: what measure.mjs calls. */
import { existsSync, rmSync } from 'node:fs'
import { createIbid } from 'ibid'
import { openStore } from 'ibid/stores'
import { actions, fill, oneCaller, replays } from './ours.mjs'
import { fill as fillTables } from './raw-postgres.mjs'
import * as redis from './raw-redis.mjs'
import { TENANT } from './workload.mjs'
import { runSteps } from './runs.mjs'

export const ourActions = ({ url, ...settings }) => actions(fresh(url), settings)
export const ourOneCaller = ({ url, ...settings }) => oneCaller(fresh(url), settings)
export const ourReplays = ({ url, ...settings }) => replays(fresh(url), settings)
export const ourRunSteps = ({ url, ...settings }) => runSteps(fresh(url), settings)
/** On a store that was filled before. */
export const ourActionsOnFull = ({ url, ...settings }) => actions(openStore(url), settings)

/** The same while receipts whose window has ended are forgotten, as an application's housekeeping does it. */
export async function ourActionsWhileExpiring({ url, ...settings }) {
  const janitor = createIbid({ store: openStore(url), tenant: TENANT, housekeeping: { every: '20ms' } })
  await janitor.list({ limit: 1 })
  const rate = await actions(openStore(url), settings)
  await janitor.close()
  return rate
}

/** Ten million through the front door take too long: the tables are filled from the inside. */
export async function fillPostgres({ url, count, ended }) {
  const store = openStore(url)
  await store.check()
  await store.close()
  await fillTables({ url, count, ended })
  return count
}

export async function fillStore({ url, count }) {
  const store = fresh(url)
  await store.check()
  await fill(store, count, (done) => done % 100_000 < 2_000 && process.stderr.write(`${done}\n`))
  await store.close()
  return count
}

export const redisPipelined = ({ url, ...settings }) => redis.rawPipelined(url, settings)
export const redisOneCaller = ({ url, ...settings }) => redis.rawOneCaller(url, settings)
export const redisGet = ({ url, ...settings }) => redis.rawGet(url, settings)

/** A file starts empty, as a server does: see empty.mjs. */
function fresh(url) {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
  if (file) for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) rmSync(file + end)
  return openStore(url)
}

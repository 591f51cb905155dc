/**
 * `node scripts/linearizability.mjs`: several processes use one store at once; what each asked and was told is
 * recorded, and for every receipt an order is looked for that explains all answers. Then the control: a store with
 * a planted race, whose histories must have none.
 *
 *   --stores a,b   of sqlite, postgres, redis (default: all)   --rounds N     three receipts each (default 40)
 *   --processes N  (default 4)                                  --operations N of a process in a round (default 60)
 *   --seed N       (default 1)                                  --json         one line of JSON for each store
 */
import { parseArgs } from 'node:util'
import { describeStuck, recordHistories } from '../dist/testing/index.js'
import { startPostgres } from './servers/postgres.mjs'
import { startRedis } from './servers/redis.mjs'

const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: 'sqlite,postgres,redis' },
    rounds: { type: 'string', default: '40' },
    processes: { type: 'string', default: '4' },
    operations: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})

/** What has to run beside the store; its processes find it by the environment. */
const SERVERS = {
  sqlite: async () => undefined,
  postgres: async () => {
    const server = await startPostgres()
    process.env['IBID_TEST_POSTGRES_URL'] = server.url
    return server
  },
  redis: async () => {
    const server = await startRedis()
    process.env['IBID_TEST_REDIS_URL'] = server.url
    return server
  },
}

const seed = Number(values.seed)

function record(name, rounds) {
  return recordHistories({
    module: new URL(`../test/fixtures/${name}-store.mjs`, import.meta.url),
    processes: Number(values.processes),
    operations: Number(values.operations),
    rounds,
    seed,
  })
}

async function control() {
  const { failed } = await record('racy', 2)
  return { planted: 1, caught: failed.length > 0 ? 1 : 0 }
}

async function judge(name) {
  const startedMs = performance.now()
  const server = await SERVERS[name]()
  try {
    const { operations, unanswered, histories, failed } = await record(name, Number(values.rounds))
    const caught = await control()
    const durationMs = Math.round(performance.now() - startedMs)
    tell(name, { operations, unanswered, histories, failed, durationMs, control: caught })
    return failed.length === 0 && unanswered <= operations / 100 && caught.caught === caught.planted
  } finally {
    await server?.stop()
  }
}

function tell(name, { operations, unanswered, histories, failed, durationMs, control }) {
  if (values.json) {
    const ran = { store: name, operations, unanswered, histories, processes: Number(values.processes) }
    const property = `recorded histories of ${name} are linearisable`
    console.log(
      JSON.stringify({ property, ran, violations: failed.length, seeds: [seed], durationMs, control }),
    )
    return
  }
  for (const one of failed.slice(0, 3)) console.log(describeStuck(one))
  const figures = [
    `${operations.toLocaleString('en')} operations`,
    `${unanswered.toLocaleString('en')} without an answer`,
    `${histories} histories`,
    `${failed.length} without an order`,
    `planted race ${control.caught === control.planted ? 'found' : 'NOT FOUND'}`,
    `${(durationMs / 1_000).toFixed(1)} s`,
  ]
  console.log(`${name}: ${figures.join(', ')}`)
}

const names = values.stores.split(',')
const unknown = names.filter((name) => !(name in SERVERS))
if (unknown.length > 0) {
  console.error(`there is no store ${unknown.join(', ')} here; there are ${Object.keys(SERVERS).join(', ')}`)
  process.exit(1)
}
const verdicts = []
for (const name of names) verdicts.push(await judge(name))
process.exitCode = verdicts.every(Boolean) ? 0 : 1

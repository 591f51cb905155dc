/** The deliberate defects: what is changed where, and which tests have to notice. */
import { adapters } from './adapters.mjs'
import { broker } from './broker.mjs'
import { cli } from './cli.mjs'
import { core } from './core.mjs'
import { demo } from './demo.mjs'
import { engine } from './engine.mjs'
import { housekeeping } from './housekeeping.mjs'
import { http } from './http.mjs'
import { key } from './key.mjs'
import { mcp } from './mcp.mjs'
import { memory } from './memory.mjs'
import { postgres } from './postgres.mjs'
import { postgresTransactions } from './postgres-transactions.mjs'
import { queue } from './queue.mjs'
import { redisLimits } from './redis-limits.mjs'
import { redis } from './redis.mjs'
import { remembering } from './remembering.mjs'
import { run } from './run.mjs'
import { runAttempts } from './run-attempts.mjs'
import { saga } from './saga.mjs'
import { server } from './server.mjs'
import { sqlite } from './sqlite.mjs'
import { testing } from './testing.mjs'
import { tick } from './tick.mjs'
import { webhook } from './webhook.mjs'

export const defects = [
  ...core,
  ...key,
  ...engine,
  ...housekeeping,
  ...remembering,
  ...memory,
  ...sqlite,
  ...postgres,
  ...postgresTransactions,
  ...redis,
  ...redisLimits,
  ...broker,
  ...adapters,
  ...mcp,
  ...http,
  ...webhook,
  ...queue,
  ...run,
  ...runAttempts,
  ...tick,
  ...saga,
  ...server,
  ...cli,
  ...demo,
  ...testing,
]

/** Changes nothing, so no test can catch it: the run has to say so. */
export const control = {
  name: 'control: a defect that is none',
  file: 'src/key/template.ts',
  find: 'encodeURIComponent(String(part))',
  put: 'encodeURIComponent(String(part))',
  tests: ['test/key/template.test.ts'],
}

/** The source with the defect in it. A defect that no longer fits its source is an error, not a pass. */
export function apply({ name, file, find, put }, source) {
  const first = source.indexOf(find)
  if (first === -1) throw new Error(`"${name}" no longer fits ${file}: ${find}`)
  if (source.includes(find, first + 1))
    throw new Error(`"${name}" fits ${file} in more than one place: ${find}`)
  return source.replace(find, () => put)
}

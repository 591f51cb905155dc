/** Runs the table over one framework, on SQLite and on Postgres: the same lines, the same sockets. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import { fuzzed } from './scenarios/fuzzed.js'
import { BODIES } from './scenarios/bodies.js'
import { DUPLICATES } from './scenarios/duplicates.js'
import { FAILURES } from './scenarios/failures.js'
import { GONE } from './scenarios/gone.js'
import { KEYS } from './scenarios/keys.js'
import { type Framework, type Site, startSite } from './site.js'

const TABLE = {
  duplicates: DUPLICATES,
  keys: KEYS,
  failures: FAILURES,
  bodies: BODIES,
  'clients that go': GONE,
  fuzzed,
}

/** `build`: what has to be made before a site of this framework can start. */
export function runTable(framework: Framework, build?: () => Promise<string>): void {
  let built: string | undefined
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    const building = build?.()
    postgres = await startPostgres()
    built = await building
  }, 240_000)
  afterAll(() => postgres?.stop())

  describe.each(['sqlite', 'postgres'])('on %s', (store) => {
    let site: Site
    beforeAll(async () => {
      site = await startSite(
        framework,
        store === 'sqlite' ? 'sqlite' : (postgres as PostgresServer).url,
        built,
      )
    })
    afterAll(() => site?.close())

    describe.each(Object.entries(TABLE))('%s', (_name, scenarios) => {
      test.each(scenarios)('%s', (_line, run) => run(site))
    })
  })
}

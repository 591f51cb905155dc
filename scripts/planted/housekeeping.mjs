/** Defects in the engine's housekeeping. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/engine', 'test/engine')

export const housekeeping = [
  ...at('housekeeping.ts', 'housekeeping', [
    {
      name: 'a store that cannot hold what has lapsed forgets nothing',
      find: '  await sweeping.catch(() => undefined)\n',
      put: '  await sweeping\n',
    },
    {
      name: 'the sweeper holds receipts that may be retried',
      find: "const row = findRow(conditionOf(found, now), 'sweep', found.recovery)",
      put: "const row = findRow(conditionOf(found, now), 'sweep', 'hold')",
    },
    {
      name: 'the sweeper does not compare the end of the lease',
      find: 'const expect = { token: found.token, state: found.state, until: found.until }',
      put: 'const expect = { token: found.token, state: found.state }',
    },
  ]),
]

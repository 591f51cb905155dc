/** Defects in what users prove their own stores and handlers with. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/testing', 'test')

export const testing = [
  ...at('history/record.ts', 'simulation/histories', [
    {
      name: 'a recorded call that failed is counted as one that was explained',
      find: 'operations: count - unanswered',
      put: 'operations: count',
    },
  ]),
]

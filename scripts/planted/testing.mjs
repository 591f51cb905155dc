/** Defects in what users prove their own stores and handlers with. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/testing', 'test')

export const testing = [
  ...at('crash/expectation.ts', 'testing/crash-matrix', [
    {
      name: 'the crash matrix takes any answer for a true one, if all got the same',
      find: 'answers.find((told) => !isTrue(told, cell))',
      put: 'answers.find((told) => told === cell.state)',
    },
  ]),
  ...at('history/record.ts', 'simulation/histories', [
    {
      name: 'a recorded call that failed is counted as one that was explained',
      find: 'operations: count - unanswered',
      put: 'operations: count',
    },
  ]),
]

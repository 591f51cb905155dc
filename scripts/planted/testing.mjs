/** Defects in what users prove their own stores and handlers with. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/testing', 'test')

export const testing = [
  ...at('black-box/properties/odd-keys.ts', 'hammer/planted', [
    {
      name: 'a long key that is told to come back for ever is said to be honoured',
      find: "(answer) => answer.kind === 'wait'",
      put: "(answer) => answer.kind === 'lost'",
    },
  ]),
  ...at('black-box/properties/other-payload.ts', 'hammer/planted', [
    {
      name: 'a payload that is refused under any key is taken for a refused duplicate',
      find: "if (alone.kind === 'done') return undefined",
      put: 'if (alone) return undefined',
    },
  ]),
  ...at('black-box/properties/key-missing.ts', 'hammer/planted', [
    {
      name: 'a second call without a key may be refused for the payload of the first',
      find: "first.kind === 'done' && other.kind === 'refused'",
      put: "first.kind === 'done' && other.kind === 'lost'",
    },
  ]),
  ...at('crash/expectation.ts', 'testing/crash-matrix', [
    {
      name: 'the crash matrix takes any answer for a true one, if all got the same',
      find: 'answers.find((told) => !isTrue(told, cell))',
      put: 'answers.find((told) => told === cell.state)',
    },
  ]),
  ...at('hammer/hammer.ts', 'testing/hammer', [
    {
      name: 'all is well where the hammer made no call',
      find: '(target.call === undefined && count < 1)',
      put: 'count < 0',
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

/** Defects in what the steps of a saga are handed. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/saga', 'test/saga')

export const saga = [
  ...at('halves.ts', 'saga', [
    {
      name: 'saga: a step is handed a copy of the attempt, which has no signal',
      find: 'return attempt.signal',
      put: 'return { ...attempt }.signal',
    },
  ]),
]

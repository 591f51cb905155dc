/** Defects in what the steps of a saga are handed, and in what a rollback undoes, in which order. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/saga', 'test/saga')

export const saga = [
  ...at('plan.ts', 'rollback', [
    {
      name: 'saga: two processes at once give places that turn the order of the rollback round',
      find: 'Math.max(last, metIndex) + 1',
      put: 'last + 1',
    },
  ]),
  ...at('saga.ts', 'rollback', [
    {
      name: 'saga: a step is undone with the code of another of its name that was refused',
      find: 'if (!steps.has(step.name)) steps.set(step.name, step)',
      put: 'steps.set(step.name, step)',
    },
  ]),
  ...at('rollback.ts', 'stuck', [
    {
      name: 'saga: a step whose result could not be kept leaves nothing for a person to resolve',
      find: '    if (isDone(error)) return await leaveToPerson(halves, plan)\n',
      put: '',
    },
    {
      name: 'saga: a rollback goes past an undo that may still be running',
      find: "|| code === 'LEASE_LOST' || code === TIMED_OUT",
      put: "|| code === 'LEASE_LOST'",
    },
  ]),
  ...at('halves.ts', 'saga', [
    {
      name: 'saga: a step that may have happened is refused for good when its window is over',
      find: 'throw neverDone(step, attempt) ? tooOld(plan) : tooOldToRepeat(plan)',
      put: 'throw tooOld(plan)',
    },
    {
      name: 'saga: a step is handed a copy of the attempt, which has no signal',
      find: 'return attempt.signal',
      put: 'return { ...attempt }.signal',
    },
  ]),
]

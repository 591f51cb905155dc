/** Defects in what one attempt at a run is given, and in what cuts it short. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/run', 'test/run')

export const runAttempts = [
  ...at('start.ts', 'start', [
    {
      name: 'run: a trigger that is filled anew changes the runs that are on their way',
      find: 'trigger: copied(given.trigger), via',
      put: 'trigger: given.trigger, via',
    },
  ]),
  ...at('steps.ts', 'cut-sleep', [
    {
      name: 'run: a sleep that is cut short before its code awaits it ends the process',
      find: '  sleep.catch(() => undefined)\n',
      put: '',
    },
  ]),
  ...at('run.ts', 'cut-sleep', [
    {
      name: 'run: what code returns that was cut short counts as the outcome of its run',
      find: '    if (left) throw left\n',
      put: '',
    },
  ]),
  ...at('run.ts', 'old-runs', [
    {
      name: 'run: an attempt that began in time does again what was forgotten meanwhile',
      find: 'if (active.storeNow() > keptUntilMs) ends.stop(',
      put: 'if (active.storeNow() < 0) ends.stop(',
    },
    {
      name: 'run: a trigger that came again makes a run young',
      find: 'if (!trigger || trigger.createdAt > createdAt + leaseMs) return createdAt\n',
      put: 'if (!trigger) return createdAt\n',
    },
  ]),
]

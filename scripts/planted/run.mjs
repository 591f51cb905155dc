/** Defects in which trigger is whose run, what a resumed run does again, and who is admitted. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/run', 'test/run')

export const run = [
  ...at('start.ts', 'stale-look', [
    {
      name: 'run: one that others ended is started anew by who looked before and stood still',
      find: 'if (isOther && attempt.number === 1) throw forgotten(name, seenAt)\n',
      put: '',
    },
    {
      name: 'run: a later one that lost its worker is given back by who looked before, and lost',
      find: 'if (isOther && attempt.number === 1) throw',
      put: 'if (isOther) throw',
    },
  ]),
  ...at('names.ts', 'start', [
    {
      name: 'a trigger that comes again after its window meets the steps of its first run',
      find: "layer: 'run', agent, key }, createdAt)",
      put: "layer: 'run', agent, key }, 0)",
    },
  ]),
  ...at('start.ts', 'start', [
    {
      name: 'a second trigger is turned away instead of joining',
      find: "      if (terms.duplicate !== 'join') throw error\n",
      put: "      if (terms.duplicate !== 'tell') throw error\n",
    },
    {
      name: 'another trigger under the same key gets the run of the first',
      find: '{ ...where, payload: print },',
      put: '{ ...where, payload: null },',
    },
  ]),
  ...at('steps.ts', 'steps', [
    {
      name: 'a step that went another way gets what the first way had left',
      find: 'const payload = input === undefined ? { name } : { name, input }',
      put: 'const payload = typeof input',
    },
    {
      name: 'steps of one parent share a place',
      find: 'const nextPlace = (): string => placeOf(String(++turn))',
      put: 'const nextPlace = (): string => placeOf(String((turn ||= 1)))',
    },
    {
      name: 'a step has a key that a step of another run has too',
      find: '    this.key = stepKey(run.runId, attempt)\n',
      put: '    this.key = attempt.key\n',
    },
    {
      name: 'a copy of what a step is given has no signal',
      find: '    enumerable: true,\n    get(this: StepAtWork)',
      put: '    get(this: StepAtWork)',
    },
    {
      name: 'a promise of another library is taken for done when it is only begun',
      find: 'Promise.resolve(made).then(',
      put: 'made.then(',
    },
  ]),
  ...at('steps.ts', 'timeline', [
    {
      name: 'the second call of a tool in a step is taken for the first',
      find: '      calls.set(tool, ordinal + 1)\n',
      put: '',
    },
  ]),
  ...at('call.ts', 'timeline', [
    {
      name: 'a resumed call with another amount gets the observation of the first',
      find: 'return asked !== undefined && record.asked === asked ?',
      put: 'return asked !== undefined ?',
    },
    {
      name: 'a refusal is kept, and a resumed run never asks again',
      find: 'if (observation.ok) return {',
      put: 'if (observation) return {',
    },
  ]),
  ...at('call.ts', 'chain', [
    {
      name: 'a reworded reason leaves the call without a record, and the timeline without its tool',
      find: 'payload: { tool } }',
      put: 'payload: { tool, args } }',
    },
  ]),
  ...at('run.ts', 'start', [
    {
      name: 'run: every new run asks first whether it was called off',
      find: '  if (attempt.isFirst) return',
      put: '  if (attempt.number === 0) return',
    },
  ]),
  ...at('run.ts', 'steps', [
    {
      name: 'a run with a held step is tried again',
      find: "if (error instanceof OutcomeUnknown && error.code === 'OUTCOME_UNKNOWN') return heldBy(runId, error)",
      put: "if (error instanceof OutcomeUnknown && error.code === 'OUTCOME_UNKNOWN') return new TypeError(error.message)",
    },
  ]),
  ...at('run.ts', 'recovery', [
    {
      name: 'a run that was cancelled without a worker is taken up again',
      find: "if (flag?.state === 'succeeded') throw cancelled(",
      put: "if (flag?.state === 'failed') throw cancelled(",
    },
  ]),
  ...at('run.ts', 'cancel', [
    {
      name: 'run: one that was cancelled and given back is started again',
      find: 'if (attempt.isFirst) return',
      put: 'if (attempt.number === 1) return',
    },
  ]),
  ...at('cancel.ts', 'cancel', [
    {
      name: 'run: a cancelled tick is forgotten before its time, and caught up',
      find: 'window: receipt.windowMs }',
      put: 'window: desk.terms.windowMs }',
    },
    {
      name: 'run: a cancellation that is refused is written down first',
      find: "  mustSay('by', who?.by)\n  mustSay('why', who?.why)\n",
      put: '  void mustSay\n',
    },
  ]),
  ...at('run.ts', 'cancel', [
    {
      name: 'run: one that waits for a slot is out of reach for whoever calls it off or closes',
      find: '  desk.atWork.set(id, mine)\n',
      put: '',
    },
  ]),
  ...at('steps.ts', 'places', [
    {
      name: 'run: a step at a place by name gets the result of a step inside another one',
      find: "asPart(place, 'place').replaceAll('.', '%2E')",
      put: "asPart(place, 'place')",
    },
  ]),
  ...at('run.ts', 'places', [
    {
      name: 'run: a branch that was left behind acts for a run that has ended',
      find: '        if (over) throw attemptOver(runId)\n',
      put: '',
    },
  ]),
  ...at('start.ts', 'duplicates', [
    {
      name: 'run: whoever wants word alone of a run that failed gets its refusal',
      find: "terms.duplicate === 'tell' && isReplay(error)",
      put: "terms.duplicate !== 'tell' && isReplay(error)",
    },
    {
      name: "run: one that meets another tenant's on its way is taken for that one",
      find: '=> !ran && isInFlight(error, where)',
      put: '=> isInFlight(error, where)',
    },
  ]),
  ...at('start.ts', 'refused', [
    {
      name: 'run: a trigger that was not kept starts a run that nobody can take up',
      find: 'if (!first.replayed && isLarge && (await',
      put: 'if (first.replayed && isLarge && (await',
    },
  ]),
  ...at('names.ts', 'refused', [
    {
      name: 'run: an id that cannot be read throws what no caller knows',
      find: "  } catch {\n    return ''\n",
      put: '  } catch (error) {\n    throw error\n',
    },
  ]),
  ...at('runs.ts', 'refused', [
    {
      name: 'run: what is no code uses up the attempts of runs',
      find: "      checkCode(body, 'runs.register(agent, async (run) => …)')\n",
      put: '',
    },
  ]),
  ...at('run.ts', 'old-runs', [
    {
      name: 'run: one that comes back when its steps are forgotten does them again',
      find: 'return createdAt + Math.min(stepWindowMs, trigger.windowMs) - leaseMs',
      put: 'return createdAt * 2',
    },
  ]),
  ...at('recovery.ts', 'old-runs', [
    {
      name: 'run: one that cannot be resumed is given back all the same',
      find: '  if (trigger?.value === undefined) throw noSuchRun(runId)\n  if (receipt.state ===',
      put: "  if (!trigger) await desk.ibid.resolve(runWhere(at), { as: 'released' }, who)\n  if (trigger?.value === undefined) throw noSuchRun(runId)\n  if (receipt.state ===",
    },
  ]),
  ...at('run.ts', 'sleep-limits', [
    {
      name: 'a sleeping run uses up an attempt whenever its worker closes',
      find: "if (left) await spare(desk.ibid, claimed, 'its worker closed while it waited')",
      put: 'if (left) await Promise.resolve()',
    },
    {
      name: 'a run that takes its workers down is tried for ever',
      find: '(await attemptsUsed(desk.ibid, claimed)) <= terms.maxAttempts)',
      put: '(await attemptsUsed(desk.ibid, claimed)) <= 1_000_000)',
    },
    {
      name: 'a run without attempts left does not go on when a person says so',
      find: "  await spare(desk.ibid, claimed, 'no attempt was left')\n",
      put: '',
    },
    {
      name: 'code that hangs keeps its run and its slot for ever',
      find: 'Promise.race([todo.body(asRun(active, attempt, todo)), limit.up])',
      put: 'todo.body(asRun(active, attempt, todo))',
    },
  ]),
  ...at('time-limit.ts', 'time-limit', [
    {
      name: 'run: one whose time was up when it went to sleep has all the time of the world',
      find: 'else if (!stopCounting) goOn()',
      put: 'else if (!stopCounting && leftMs > 0) goOn()',
    },
  ]),
  ...at('time-limit.ts', 'sleep-limits', [
    {
      name: 'the time of a run passes while it only sleeps',
      find: 'if (sleeping > 0 && working === 0) stopCounting?.()',
      put: 'if (sleeping > 1 && working === 0) stopCounting?.()',
    },
    {
      name: 'a step that hangs beside a sleep has all the time of the sleep',
      find: 'if (sleeping > 0 && working === 0) stopCounting?.()',
      put: 'if (sleeping > 0) stopCounting?.()',
    },
  ]),
  ...at('terms.ts', 'sleep-limits', [
    {
      name: 'the steps of a run are forgotten while it sleeps',
      find: 'const longestMs = sleepMs + maxAttempts',
      put: 'const longestMs = maxAttempts',
    },
  ]),
  ...at('admission.ts', 'admission', [
    {
      name: 'a run that has ended keeps its slot',
      find: '        await Promise.all(held.map((slot) => slot.release()))\n      }\n      try {',
      put: '      }\n      try {',
    },
    {
      name: 'agents of one tenant share their slots',
      find: 'limits.push({ scope: `slot:${agent}`,',
      put: 'limits.push({ scope: `slot:any`,',
    },
  ]),
  ...at('agents.ts', 'tick', [
    {
      name: "a tick is taken up with the code of another tenant's",
      find: 'known.set(agent, byTenant.set(tenant, registered))',
      put: 'known.set(agent, byTenant.set(undefined, registered))',
    },
  ]),
  ...at('runs.ts', 'tick', [
    {
      name: 'run: a ticker that is set up while its worker closes goes on',
      find: '      if (closing) ticker.stop()\n',
      put: '',
    },
  ]),
]

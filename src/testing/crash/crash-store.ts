/**
 * A store that kills its own process, with SIGKILL, right before or right after a step of an attempt. `after`
 * means: the store has answered, so what it answered is kept, in whatever thread or server it works.
 */
import type { Store, Swap } from '../../store.js'
import { around } from '../around.js'

/**
 * The steps, named after what they are for. `settle`: a swap that ends the pending state, inside a transaction too.
 * `renew`: one that moves the lease. `takeover`: one that gives the receipt to another attempt.
 * `transact`: the whole transaction, its commit included. `effect`: what `crashStep` is put around.
 */
export const STEPS = ['claim', 'effect', 'settle', 'renew', 'takeover', 'transact'] as const
export type Step = (typeof STEPS)[number]
export type CrashPoint = `${'before' | 'after'} ${Step}`

/** What happens at the point: nothing of this attempt comes after it. */
export type Stop = () => Promise<never>

/** Kills the process at `point`. Where that is never reached, nothing happens. */
export function crashStore<Tx>(inner: Store<Tx>, point: CrashPoint, stop: Stop = die): Store<Tx> {
  const transact = inner.transact?.bind(inner)
  const crashing: Store<Tx> = {
    ...around(inner, async ({ verb, run }) =>
      verb === 'claim' || verb === 'transact' ? await crashStep(point, verb, run, stop) : await run(),
    ),
    async swap(changes) {
      return await crashSwap(point, changes, async () => await inner.swap(changes), stop)
    },
  }
  if (!transact) return crashing
  return {
    ...crashing,
    transact: async (work) =>
      await crashStep(
        point,
        'transact',
        async () =>
          transact(
            async (tx, swap) =>
              await work(
                tx,
                async (change) => await crashSwap(point, [change], async () => await swap(change), stop),
              ),
          ),
        stop,
      ),
  }
}

/** Any step, with its two points: also for an effect, which no store sees. */
export async function crashStep<T>(
  point: CrashPoint | undefined,
  step: Step,
  run: () => T | Promise<T>,
  stop: Stop = die,
): Promise<T> {
  if (point === `before ${step}`) await stop()
  const value = await run()
  if (point === `after ${step}`) await stop()
  return value
}

async function crashSwap<T>(
  point: CrashPoint,
  changes: readonly Swap[],
  run: () => Promise<T>,
  stop: Stop,
): Promise<T> {
  const steps = changes.map(stepOf)
  if (steps.some((step) => point === `before ${step}`)) await stop()
  const value = await run()
  if (steps.some((step) => point === `after ${step}`)) await stop()
  return value
}

function stepOf({ expect, next }: Swap): Step {
  if (next.state !== 'pending') return 'settle'
  return next.token === expect.token ? 'renew' : 'takeover'
}

/** Not one more instruction of this thread: the signal may take a moment to arrive. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

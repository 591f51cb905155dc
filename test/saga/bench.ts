/** What the tests of the saga work on: a memory store, engines on it that stand for processes, a list of effects. */
import { createSaga, type Saga, type SagaOptions, type Step } from '../../src/guards/saga/index.js'
import { createIbid, type Ibid } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { createClock, type RunningClock } from '../../src/testing/index.js'

export interface Bench {
  readonly clock: RunningClock
  readonly effects: string[]
  /** An engine of its own, as another process would have. */
  open(): Ibid
  saga(options?: Partial<SagaOptions>): Saga
  /** A step that notes what it does. */
  step(name: string, more?: Partial<Step>): Step
}

export function bench(): Bench {
  const clock = createClock()
  const store = memoryStore({ clock })
  const effects: string[] = []
  const open = (): Ibid => createIbid({ store, tenant: 'acme', housekeeping: false, cache: false })
  return {
    clock,
    effects,
    open,
    saga: (options) => createSaga({ ibid: open(), workflowId: 'wf', ...options }),
    step: (name, more) => ({
      name,
      do() {
        effects.push(`do ${name}`)
        return `${name}!`
      },
      undo(result) {
        effects.push(`undo ${name} ${String(result)}`)
      },
      ...more,
    }),
  }
}

/**
 * From a scenario that breaks a promise to a small one that breaks the same promise: leave out what can be left out
 * (whole kinds of steps, keys and processes first, then ever smaller groups of steps), then make the rest plainer.
 */
import type { KeyPlan, ProcessPlan, Scenario, Step } from './scenario.js'

type Breaks = (scenario: Scenario) => Promise<boolean>

export async function shrink(scenario: Scenario, breaks: Breaks): Promise<Scenario> {
  let smallest = scenario
  const size = (): number => JSON.stringify(smallest).length
  async function keep(candidate: Scenario): Promise<boolean> {
    if (!(await breaks(candidate))) return false
    smallest = candidate
    return true
  }
  for (let before = Number.POSITIVE_INFINITY; size() < before;) {
    before = size()
    await dropKinds(smallest, keep)
    await dropGroups(smallest, keep)
    for (const plainer of PLAINER) await plainer(() => smallest, keep)
  }
  const { keys, steps } = smallest
  const isNamed = (name: string): boolean =>
    steps.some((step) => Object.values(step).some((value) => value === name))
  // Processes keep their places: what their messages take depends on it.
  return { ...smallest, keys: keys.filter(({ name }) => isNamed(name)) }
}

type Keep = (candidate: Scenario) => Promise<boolean>

/** All faults, all crashes, everything about one key, everything that one process does. */
async function dropKinds(from: Scenario, keep: Keep): Promise<void> {
  let smallest = from
  const groups: ((step: Step) => boolean)[] = [
    ...['fault', 'crash', 'pause', 'outage', 'clock', 'resolve', 'sweep'].map(
      (kind) => (step: Step) => step.kind === kind,
    ),
    ...from.keys.map(
      ({ name }) =>
        (step: Step) =>
          'key' in step && step.key === name,
    ),
    ...from.processes.map(
      ({ name }) =>
        (step: Step) =>
          'process' in step && step.process === name,
    ),
  ]
  for (const isDropped of groups) {
    const steps = smallest.steps.filter((step) => !isDropped(step))
    if (steps.length === smallest.steps.length) continue
    const candidate = { ...smallest, steps }
    if (await keep(candidate)) smallest = candidate
  }
}

/** Delta debugging: halves, quarters, … single steps. */
async function dropGroups(from: Scenario, keep: Keep): Promise<void> {
  let smallest = from
  for (let length = Math.ceil(from.steps.length / 2); length >= 1; length = Math.floor(length / 2)) {
    for (let at = 0; at < smallest.steps.length;) {
      const candidate = { ...smallest, steps: smallest.steps.toSpliced(at, length) }
      if (await keep(candidate)) smallest = candidate
      else at += length
    }
  }
}

type Plainer = (now: () => Scenario, keep: Keep) => Promise<void>

const STEPS: Partial<Record<string, unknown>>[] = [
  { end: 'value' },
  { effectMs: 0 },
  { retries: 0 },
  { heeds: false },
  { remote: false },
  { payload: 0 },
  { waitMs: 0 },
  { losesRequests: false },
  { skip: 0 },
]
const PROCESSES: Partial<ProcessPlan>[] = [{ latencyMs: 0 }, { rate: 1 }, { skewMs: 0 }, { caches: false }]
const KEYS: Partial<KeyPlan>[] = [{ windowMs: 3_600_000 }, { fences: false }]

/** Sets each field of each item that has it to its plainest value, where the promise stays broken. */
function plainer(part: 'steps' | 'processes' | 'keys', fields: readonly object[]): Plainer {
  return async (now, keep) => {
    for (let at = 0; at < now()[part].length; at++) {
      for (const field of fields) {
        const items = now()[part]
        const item = items[at] as object
        const [name, value] = Object.entries(field)[0] as [string, unknown]
        if (!(name in item) || (item as Record<string, unknown>)[name] === value) continue
        await keep({ ...now(), [part]: items.with(at, { ...item, ...field } as never) })
      }
    }
  }
}

const PLAINER: readonly Plainer[] = [
  plainer('steps', STEPS),
  plainer('processes', PROCESSES),
  plainer('keys', KEYS),
]

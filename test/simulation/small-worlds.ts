/** Scenarios of a few steps, written by hand: two processes whose messages take a millisecond, one key. */
import type { CallStep, KeyPlan, Scenario, Step } from '../../src/testing/simulation/scenario.js'

const KEY: KeyPlan = {
  name: 'k1',
  policy: 'hold',
  leaseMs: 1_000,
  windowMs: 3_600_000,
  timeoutMs: 10_000,
  maxAttempts: 3,
  fences: false,
}

export function call(process: string, atMs: number, more: Partial<CallStep> = {}): CallStep {
  return {
    kind: 'call',
    process,
    atMs,
    remote: false,
    key: 'k1',
    payload: 0,
    end: 'value',
    effectMs: 0,
    waitMs: 0,
    retries: 0,
    heeds: false,
    ...more,
  }
}

type Fault = Extract<Step, { kind: 'fault' }>

export function fault(
  process: string,
  verb: Fault['verb'],
  number: number,
  kind: Fault['fault'],
  ms = 0,
): Fault {
  return { kind: 'fault', process, verb, key: 'k1', call: number, fault: kind, ms }
}

export function world(key: Partial<KeyPlan>, steps: readonly Step[]): Scenario {
  const processes = ['p1', 'p2'].map((name) => {
    return { name, rate: 1, skewMs: 0, latencyMs: 0, caches: false }
  })
  return { seed: 1, keys: [{ ...KEY, ...key }], processes, steps }
}

/** A broken promise, told so that a person can follow it: the seed, the few steps that are left, and what happened. */
import type { Violation } from './books.js'
import type { CallStep, KeyPlan, ProcessPlan, Scenario, Step } from './scenario.js'

export interface Found {
  readonly seed: number
  readonly violation: Violation
  /** As small as it could be made. */
  readonly scenario: Scenario
  /** How many steps the whole scenario has. */
  readonly stepsBefore: number
  readonly trace: readonly string[]
}

export function describeFound({ seed, violation, scenario, stepsBefore, trace }: Found): string {
  const { keys, processes, steps } = scenario
  const there = new Set(steps.flatMap((step) => ('process' in step ? [step.process] : [])))
  return [
    `seed ${seed} breaks a promise: ${violation.promise}`,
    `  ${violation.text}`,
    ...keys.map((key) => `  key ${keyLine(key)}`),
    ...processes.filter(({ name }) => there.has(name)).map((one) => `  process ${processLine(one)}`),
    `  ${steps.length} of ${stepsBefore} steps are enough:`,
    ...steps.map((step, at) => `    ${at + 1}. ${stepLine(step)}`),
    '  what happens, in milliseconds:',
    ...trace.map((line) => `    ${line}`),
    `  run it again: node scripts/simulate.mjs --replay ${seed}`,
  ].join('\n')
}

function keyLine({ name, policy, leaseMs, windowMs, timeoutMs, maxAttempts, fences }: KeyPlan): string {
  const downstream = policy === 'check' && fences ? ', a downstream that fences' : ''
  const times = `lease ${leaseMs} ms, timeout ${timeoutMs} ms, window ${windowMs} ms`
  return `${name}: ${policy}, ${times}, at most ${maxAttempts} attempts${downstream}`
}

function processLine({ name, rate, skewMs, latencyMs, caches }: ProcessPlan): string {
  const pace = rate === 1 ? '' : `, its clock runs ${rate} times as fast`
  const clock = skewMs === 0 ? pace : `${pace}, its clock is ${skewMs} ms off`
  const travels = latencyMs === 0 ? 'messages take 1 ms' : `messages take about ${latencyMs} ms`
  return `${name}: ${travels}${clock}${caches ? ', with a cache' : ''}`
}

function stepLine(step: Step): string {
  switch (step.kind) {
    case 'call':
      return callLine(step)
    case 'sweep':
      return `at ${step.atMs} ms ${step.process} sweeps`
    case 'resolve':
      return `at ${step.atMs} ms a person at ${step.process} resolves ${step.key} as ${step.as}`
    case 'fault': {
      const delay = step.fault === 'delayed' || step.fault === 'late' ? ` by ${step.ms} ms` : ''
      const about = step.key === undefined ? '' : ` of ${step.key}`
      return `${step.process}'s ${step.verb}${about} number ${step.call} is ${step.fault}${delay}`
    }
    case 'crash': {
      const lost = step.losesRequests ? ', with what it had sent' : ''
      return `${moment(step)} ${step.process} crashes${lost}, and is back after ${step.restartMs} ms`
    }
    case 'pause':
      return `${moment(step)} ${step.process} stands still for ${step.ms} ms`
    case 'outage':
      return `at ${step.atMs} ms ${step.process} loses the store for ${step.ms} ms`
    case 'clock':
      return `at ${step.atMs} ms the store's clock is set by ${step.ms} ms`
  }
}

function moment({ atMs, skip }: { readonly atMs: number; readonly skip: number }): string {
  return skip === 0 ? `from ${atMs} ms on, at its first event,` : `from ${atMs} ms on, after ${skip} events,`
}

function callLine(step: CallStep): string {
  const { process, atMs, key, payload, end, effectMs, waitMs, retries, remote, heeds } = step
  const extras = [
    ...(payload === 0 ? [] : [`payload ${payload}`]),
    ...(end === 'value' ? [] : [`its effect: ${end}`]),
    ...(effectMs === 0 ? [] : [`taking ${effectMs} ms`]),
    ...(waitMs === 0 ? [] : [`waits up to ${waitMs} ms`]),
    ...(retries === 0 ? [] : [`comes back ${retries} times`]),
    ...(heeds ? ['heeds the signal'] : []),
  ]
  const detail = extras.length > 0 ? ` (${extras.join(', ')})` : ''
  return `at ${atMs} ms ${process} ${remote ? 'claims' : 'calls'} ${key}${detail}`
}

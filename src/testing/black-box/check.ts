/**
 * `checkIdempotency`: is each action done once, seen from outside? First a control: one plain call must succeed,
 * and the probe must count it, otherwise no verdict would mean anything. Then one property after the other, each
 * with keys of its own.
 */
import { randomBytes } from 'node:crypto'
import { IbidError, invalidIntent } from '../../core/errors.js'
import { type Bench, createBench, type Payloads, type Probe, type Terms } from './bench.js'
import type { Property } from './property.js'
import { PROPERTIES } from './properties.js'
import type { Target } from './target.js'
import { variantOf } from './variant.js'
import type { Finding } from './verdict.js'

export interface CheckOptions extends Partial<Terms> {
  readonly payload?: unknown
  /** Default: `payload` with its first number, or its first text, changed. */
  readonly otherPayload?: unknown
  readonly failingPayload?: unknown
  readonly slowPayload?: unknown
  readonly probe?: Probe | undefined
  /** Ids of properties; default all. */
  readonly only?: readonly string[]
  readonly skip?: readonly string[]
  /** How keys begin. Default `hammer-` and something random. */
  readonly keyPrefix?: string
  readonly onProperty?: (property: { readonly id: string; readonly about: string }) => void
}

export type Verdict = {
  readonly property: string
  readonly about: string
  readonly durationMs: number
} & Finding & {
    /** The calls that were made, in short. */
    readonly sequence: readonly string[]
  }

export interface CheckReport {
  readonly target: string
  readonly verdicts: readonly Verdict[]
  readonly held: number
  readonly violated: number
  readonly notTested: number
  /** Nothing is violated. */
  readonly ok: boolean
}

const TERMS: Terms = { atOnce: 20, patienceMs: 30_000, settleMs: 100, keyOptional: false }

export async function checkIdempotency(target: Target, options: CheckOptions = {}): Promise<CheckReport> {
  const chosen = propertiesOf(options.only, options.skip)
  const { payload, otherPayload = variantOf(payload), failingPayload, slowPayload } = options
  const payloads: Payloads = {
    plain: payload,
    other: otherPayload,
    failing: failingPayload,
    slow: slowPayload,
  }
  const terms: Terms = {
    atOnce: options.atOnce ?? TERMS.atOnce,
    patienceMs: options.patienceMs ?? TERMS.patienceMs,
    settleMs: options.settleMs ?? TERMS.settleMs,
    keyOptional: options.keyOptional ?? TERMS.keyOptional,
  }
  const prefix = options.keyPrefix ?? `hammer-${randomBytes(4).toString('hex')}`
  let keys = 0
  const newBench = (): Bench =>
    createBench(target, payloads, terms, options.probe, () => `${prefix}-${++keys}`)

  await control(newBench())
  const verdicts: Verdict[] = []
  for (const property of chosen) {
    options.onProperty?.(property)
    verdicts.push(await judge(property, newBench()))
  }
  const count = (verdict: Finding['verdict']): number =>
    verdicts.filter((each) => each.verdict === verdict).length
  return {
    target: target.name,
    verdicts,
    held: count('held'),
    violated: count('violated'),
    notTested: count('not tested'),
    ok: count('violated') === 0,
  }
}

async function judge({ id, about, test }: Property, bench: Bench): Promise<Verdict> {
  const start = performance.now()
  const finding = await test(bench)
  const durationMs = Math.round(performance.now() - start)
  return { property: id, about, durationMs, ...finding, sequence: bench.journal.lines() }
}

async function control(bench: Bench): Promise<void> {
  const effects = await bench.counting()
  const answer = await bench.persist({ key: bench.newKey(), payload: 'plain' })
  if (answer.kind !== 'done') {
    throw invalidTarget(
      `a plain call of ${bench.target.name} got ${answer.said}: ${answer.body.slice(0, 200)}`,
      `give a target and a ${bench.target.payloadName} that work; duplicates of a call that fails show nothing`,
    )
  }
  const count = await effects()
  if (count === undefined || count === 1) return
  throw invalidTarget(
    `one call raised the probe by ${count}`,
    'give a probe that counts the effects of this call, one each, while nothing else is going on',
  )
}

function propertiesOf(
  only: readonly string[] | undefined,
  skip: readonly string[] = [],
): readonly Property[] {
  const known = PROPERTIES.map(({ id }) => id)
  for (const id of [...(only ?? []), ...skip]) {
    if (!known.includes(id)) {
      throw invalidIntent(`there is no property ${JSON.stringify(id)}`, `the properties: ${known.join(', ')}`)
    }
  }
  const chosen = PROPERTIES.filter(({ id }) => (only ?? known).includes(id) && !skip.includes(id))
  if (chosen.length > 0) return chosen
  throw invalidIntent(
    'only and skip leave no property to test',
    'leave fewer out: a report of nothing is no good news',
  )
}

function invalidTarget(message: string, action: string): IbidError {
  return new IbidError(`${message}; no property was tested`, {
    code: 'CONTROL_FAILED',
    retriable: false,
    action,
  })
}

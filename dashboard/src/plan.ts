/**
 * The plan that capacity is held against: what somebody expects, kept in this browser, and worked out by the formula of
 * `ibid plan`.
 */
import { type CapacityRates, planCapacity } from '../../src/plan/index.js'

export type Plan = Pick<CapacityRates, 'perSecond' | 'windowSeconds' | 'margin'>

const NAME = 'ibid.plan'
/** No rate: there is no plan yet. */
const FIRST: Plan = { perSecond: 0, windowSeconds: 86_400, margin: 0.2 }

/** Receipts that are alive at once; undefined: no plan can have such figures. */
export function recordsOf(plan: Plan): number | undefined {
  try {
    return planCapacity(plan).records
  } catch {
    return undefined
  }
}

export function loadPlan(): Plan {
  try {
    const kept = { ...FIRST, ...(JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Plan>) }
    return recordsOf(kept) === undefined ? FIRST : kept
  } catch {
    return FIRST
  }
}

export function keepPlan(plan: Plan): void {
  localStorage.setItem(NAME, JSON.stringify(plan))
}

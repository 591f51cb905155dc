/**
 * The plan that capacity is held against: what somebody expects, kept in this browser, and the formula of
 * `ibid plan`.
 */
export interface Plan {
  readonly perSecond: number
  readonly windowSeconds: number
  /** On top, as a share. */
  readonly margin: number
}

const NAME = 'ibid.plan'
/** No rate: there is no plan yet. */
const FIRST: Plan = { perSecond: 0, windowSeconds: 86_400, margin: 0.2 }

/** Receipts that are alive at once. */
export function recordsOf({ perSecond, windowSeconds, margin }: Plan): number {
  // Sums of decimal fractions end in noise; twelve digits are more than any plan has.
  return Math.ceil(Number(((1 + margin) * perSecond * windowSeconds).toPrecision(12)))
}

export function loadPlan(): Plan {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Plan>
    return { ...FIRST, ...kept }
  } catch {
    return FIRST
  }
}

export function keepPlan(plan: Plan): void {
  localStorage.setItem(NAME, JSON.stringify(plan))
}

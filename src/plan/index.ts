/**
 * `ibid/plan`: how long receipts have to be kept, how many that makes, how likely two random keys meet, and what it
 * takes to store. Plain arithmetic, without a store or a clock. Seconds everywhere, as people plan in them; a
 * window becomes a policy as `${seconds}s`.
 */
import { invalidIntent } from '../core/errors.js'

export interface WindowTimes {
  /** How long the caller itself waits for an answer. */
  readonly callerSeconds: number
  /** From the first try to the last retry. */
  readonly retrySeconds: number
  /** How late the network or a queue may still deliver. */
  readonly networkSeconds: number
  /** How far clocks, and the clean-up that goes by them, may be apart. */
  readonly clockSeconds: number
}

/** The shortest window that is safe, in seconds: any retry that can still arrive finds the receipt. */
export function planWindow(times: WindowTimes): number {
  const { callerSeconds, retrySeconds, networkSeconds, clockSeconds } = given(times, 'planWindow')
  const parts = { callerSeconds, retrySeconds, networkSeconds, clockSeconds }
  for (const [field, value] of Object.entries(parts)) mustBe(field, value, 0, Infinity, 'seconds, 0 or more')
  return exact(callerSeconds + retrySeconds + networkSeconds + clockSeconds)
}

export interface CapacityRates {
  /** Actions that are accepted, per second; at the peak, if the store has to live through it. */
  readonly perSecond: number
  readonly windowSeconds: number
  /** On top, as a share: 0.2 is 20 percent. */
  readonly margin: number
  /** Which share of the actions comes again. */
  readonly duplicateShare?: number
  /** For how long that goes on. */
  readonly overSeconds?: number
}

export interface Capacity {
  /** Receipts that are alive at once. */
  readonly records: number
  readonly duplicatesPerSecond: number
  /** Second effects that would have been possible over `overSeconds`. With receipts, none of them happens. */
  readonly duplicates: number
}

export function planCapacity(rates: CapacityRates): Capacity {
  const {
    perSecond,
    windowSeconds,
    margin,
    duplicateShare = 0,
    overSeconds = 0,
  } = given(rates, 'planCapacity')
  mustBe('perSecond', perSecond, 0, Infinity, 'actions per second, 0 or more')
  mustBe('windowSeconds', windowSeconds, 0, Infinity, 'seconds, 0 or more')
  mustBe('margin', margin, 0, 1, 'a share from 0 to 1: 0.2 for 20 percent on top')
  mustBe('duplicateShare', duplicateShare, 0, Infinity, 'a share, 0 or more: 0.06 for 6 percent')
  mustBe('overSeconds', overSeconds, 0, Infinity, 'seconds, 0 or more')
  const duplicatesPerSecond = exact(perSecond * duplicateShare)
  return {
    records: Math.ceil(exact((1 + margin) * perSecond * windowSeconds)),
    duplicatesPerSecond,
    duplicates: Math.round(exact(duplicatesPerSecond * overSeconds)),
  }
}

export interface KeySpace {
  /** Keys that are alive at once. */
  readonly keys: number
  /** Random bits in each: 122 in a version 4 UUID. */
  readonly bits: number
}

/**
 * The chance that any two of the keys are the same by accident: the birthday bound. It says nothing about a caller that
 * guesses, a generator that is weak, or a key that is used again on purpose.
 */
export function collisionRisk(space: KeySpace): number {
  const { keys, bits } = given(space, 'collisionRisk')
  mustBe('keys', keys, 0, Infinity, 'how many keys, 0 or more')
  mustBe('bits', bits, 1, 1_000, 'random bits from 1 to 1000')
  return Math.min(1, Math.max(0, (keys * (keys - 1)) / (2 * 2 ** bits)))
}

export interface CostRates {
  readonly records: number
  readonly bytesPerRecord: number
  readonly perSecond: number
  /** Audit events that are kept, and how large one is. */
  readonly events?: number
  readonly bytesPerEvent?: number
  /** In whatever currency: the result is in the same. */
  readonly pricePerGbMonth?: number
  readonly pricePerMillionWrites?: number
}

export interface Cost {
  readonly bytes: number
  /** That part of them which is audit log. */
  readonly eventBytes: number
  /** Receipts written: one claim and one settling per action. A duplicate of a settled one writes none. */
  readonly writesPerSecond: number
  /** Zero where no price was given. */
  readonly storagePerMonth: number
  readonly writesPerMonth: number
  readonly perMonth: number
}

const WRITES_PER_ACTION = 2
const MONTH_SECONDS = 30 * 86_400

export function planCost(rates: CostRates): Cost {
  const { records, bytesPerRecord, perSecond, events = 0, bytesPerEvent = 0 } = given(rates, 'planCost')
  const { pricePerGbMonth = 0, pricePerMillionWrites = 0 } = rates
  const numbers = { records, bytesPerRecord, perSecond, events, bytesPerEvent, pricePerGbMonth }
  for (const [field, value] of Object.entries({ ...numbers, pricePerMillionWrites })) {
    mustBe(field, value, 0, Infinity, 'a number, 0 or more')
  }
  const eventBytes = Math.ceil(exact(events * bytesPerEvent))
  const bytes = Math.ceil(exact(records * bytesPerRecord)) + eventBytes
  const writesPerSecond = exact(perSecond * WRITES_PER_ACTION)
  const storagePerMonth = exact((bytes / 1e9) * pricePerGbMonth)
  const writesPerMonth = exact(((writesPerSecond * MONTH_SECONDS) / 1e6) * pricePerMillionWrites)
  return {
    bytes,
    eventBytes,
    writesPerSecond,
    storagePerMonth,
    writesPerMonth,
    perMonth: exact(storagePerMonth + writesPerMonth),
  }
}

/** What a person would write down: without the last bits that binary fractions add (80 × 0.06 is 4.8). */
function exact(value: number): number {
  return Number(value.toPrecision(12))
}

function given<T>(options: T, name: string): T {
  if (typeof options === 'object' && options !== null) return options
  throw invalidIntent(`${name} got no figures`, `give ${name} an object of numbers`)
}

function mustBe(field: string, value: unknown, least: number, most: number, wanted: string): void {
  if (typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most) return
  const shown = typeof value === 'number' ? String(value) : `of type ${typeof value}`
  throw invalidIntent(`${field} is ${shown}`, `give ${field} as ${wanted}`)
}

/**
 * Durations as people write them: milliseconds, or a number with a unit ('30s', '5m', '24h', '7d').
 * Everything inside the house is in milliseconds, and says so in its name.
 */
import { invalidIntent } from './errors.js'
import { remember } from './remember.js'

export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A hundred years: longer than any window, and far inside what a double counts exactly. */
const LONGEST_MS = 100 * 365 * 86_400_000

const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** A program has a handful of these, and asks for them at every call. */
const read = remember({ most: 256, longest: 64 }, (text) => {
  const match = WRITTEN.exec(text)
  return match ? Number(match[1]) * (UNIT_MS[match[2] as string] as number) : undefined
})

/** Milliseconds of `duration`, rounded to a whole one. `field` names it in the error. */
export function toMs(duration: Duration, field: string): number {
  const ms = typeof duration === 'string' ? read(duration) : duration
  if (typeof ms === 'number' && ms >= 0 && ms <= LONGEST_MS) return Math.round(ms)
  throw invalidIntent(
    `${field} is ${shown(duration)}, which is not a duration from 0 to 100 years`,
    `write ${field} as milliseconds or as a number with a unit: 500, '30s', '5m', '24h', '7d'`,
  )
}

function shown(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given)
  return typeof given === 'number' ? String(given) : `of type ${typeof given}`
}

/** Values of flags, read and checked; what is wrong is named by its flag. */
import { InvalidArgumentError } from 'commander'
import { toMs } from '../core/duration.js'
import { IbidError } from '../core/errors.js'

export function wholeNumber(flag: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= least && value <= most) return value
    throw new InvalidArgumentError(`${flag} takes a whole number from ${least} to ${most}.`)
  }
}

export function decimal(flag: string, least = 0, most = Infinity): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d*\.?\d+(?:e[+-]?\d+)?$/i.test(text) && value >= least && value <= most) return value
    const range = most === Infinity ? `a number of ${least} or more` : `a number from ${least} to ${most}`
    throw new InvalidArgumentError(`${flag} takes ${range}.`)
  }
}

/** Milliseconds of '30s', '5m', '24h', '7d'. */
export function durationMs(flag: string): (text: string) => number {
  return (text) => {
    try {
      return toMs((/^\d+$/.test(text) ? Number(text) : text) as `${number}s`, flag)
    } catch (error) {
      throw error instanceof IbidError
        ? new InvalidArgumentError(`${flag} takes a duration: 500, 30s, 5m, 24h, 7d.`)
        : error
    }
  }
}

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const

/** A duration as one would give it to a flag: 30d, and not 2592000000. */
export function asGiven(ms: number): string {
  const fitting = Object.entries(UNITS).find(([, unitMs]) => ms >= unitMs && ms % unitMs === 0)
  return fitting === undefined ? `${ms}ms` : `${ms / fitting[1]}${fitting[0]}`
}

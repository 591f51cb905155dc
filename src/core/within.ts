/** A number that a program gave as an option: what is none, or out of bounds, is refused before anything is opened. */
import { invalidIntent } from './errors.js'

export function within(given: number, field: string, least: number, most: number): number {
  if (typeof given === 'number' && given >= least && given <= most) return given
  throw invalidIntent(
    `options.${field} is ${String(given)}`,
    `give ${field} a number from ${least} to ${most}`,
  )
}

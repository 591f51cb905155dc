/**
 * Chance by name: a number from 0 up to 1 that depends on nothing but the seed and what it is drawn for. A message
 * takes as long in a scenario that was cut down as it took in the whole one.
 */
import { random } from '../random.js'

export function draw(seed: number, what: number, number: number): number {
  const mixed = Math.imul(seed ^ Math.imul(what + 1, 0x85ebca6b), 0xc2b2ae35) ^ Math.imul(number, 0x27d4eb2f)
  return random(mixed).next()
}

/** A number for a name, the same for ever. */
export function numberOf(name: string): number {
  let mixed = 0x811c9dc5
  for (let at = 0; at < name.length; at++) mixed = Math.imul(mixed ^ name.charCodeAt(at), 0x01000193)
  return mixed
}

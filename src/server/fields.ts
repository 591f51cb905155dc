/**
 * What came in as JSON, taken apart by name: whatever is not as it should be is refused with the name of the
 * field.
 */
import { invalidIntent } from '../core/errors.js'

export type Fields = Readonly<Record<string, unknown>>

/** `known`: the only members it may have. */
export function objectOf(value: unknown, field: string, known?: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidIntent(`${field} is not an object`, `send ${field} as a JSON object`)
  }
  const stranger = known && Object.keys(value).find((name) => !known.includes(name))
  if (stranger === undefined) return value as Fields
  throw invalidIntent(
    `${field} has ${JSON.stringify(stranger.slice(0, 100))}, which means nothing here`,
    `use only ${(known as string[]).join(', ')}`,
  )
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw invalidIntent(
    value === undefined ? `${name} is missing` : `${name} is not a string`,
    `give ${name} as a string`,
  )
}

export function textIfGiven(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined ? undefined : textOf(fields, name)
}

/** Of a query string: each name once at most, and none but these. */
export function queryOf(search: URLSearchParams, known: readonly string[]): Readonly<Record<string, string>> {
  const seen: Record<string, string> = {}
  for (const [name, value] of search) {
    if (!known.includes(name)) {
      throw invalidIntent(
        `the query has ${JSON.stringify(name.slice(0, 100))}, which means nothing here`,
        `use only ${known.length === 0 ? 'the path' : known.join(', ')}`,
      )
    }
    if (Object.hasOwn(seen, name)) throw invalidIntent(`${name} is there twice`, `give ${name} once`)
    seen[name] = value
  }
  return seen
}

export function countOf(text: string | undefined, name: string, usual: number, most: number): number {
  if (text === undefined) return usual
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (count >= 1 && count <= most) return count
  throw invalidIntent(
    `${name} is ${JSON.stringify(text.slice(0, 100))}`,
    `give ${name} a whole number from 1 to ${most}`,
  )
}

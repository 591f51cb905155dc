/** Values of the hammer's flags: payloads, headers, URLs. What is wrong is named by its flag. */
import { existsSync, readFileSync } from 'node:fs'
import { invalidIntent } from '../../core/errors.js'

/** `@file`, the name of a file that is there, or the text itself. */
export function textGiven(flag: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const file = given.startsWith('@')
    ? given.slice(1)
    : given.length < 1_024 && existsSync(given)
      ? given
      : undefined
  if (file === undefined) return given
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw invalidIntent(
      `${flag} names ${file}, which cannot be read: ${(error as Error).message}`,
      'give a file',
    )
  }
}

export function jsonGiven(flag: string, given: string | undefined): unknown {
  const text = textGiven(flag, given)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw invalidIntent(`${flag} is not JSON`, 'give JSON, or @file with JSON in it')
  }
}

export function objectGiven(flag: string, given: string | undefined): object | undefined {
  const value = jsonGiven(flag, given)
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value)))
    return value
  throw invalidIntent(`${flag} is not a JSON object`, 'give the arguments of the tool, as {"name":"value"}')
}

const HEADER = /^([!#$%&'*+.^_`|~\w-]+)\s*[=:]\s*(.*)$/

/** `name=value` or `name: value`, each. */
export function headersGiven(flag: string, given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = HEADER.exec(text) ?? []
      if (name === undefined || value === undefined) {
        throw invalidIntent(`${flag} takes name=value`, `${flag} 'authorization=Bearer test'`)
      }
      return [name.toLowerCase(), value]
    }),
  )
}

export function urlGiven(flag: string, given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw invalidIntent(
    `${flag} is no http or https address`,
    `give one: ${flag} http://127.0.0.1:3000/refunds`,
  )
}

/** `./file.mjs#export`; without an export, the default one. */
export function exportGiven(flag: string, given: string): { readonly file: string; readonly name: string } {
  const [, file = '', name = 'default'] = /^(.*?)(?:#([\w$]+))?$/.exec(given) ?? []
  if (existsSync(file)) return { file, name }
  throw invalidIntent(`${flag} names ${JSON.stringify(file)}, which is not there`, 'give ./file.mjs#export')
}

/**
 * THE table of settings: each has one name, which gives its flag, its environment variable and its place in the
 * configuration file. A flag counts before the environment, that before the file, that before the default.
 * Whatever cannot be read is refused with the name it was given under.
 */
import { readFileSync } from 'node:fs'
import { toMs } from '../core/duration.js'
import { invalidIntent } from '../core/errors.js'
import { objectOf } from './fields.js'

type Kind = 'text' | 'port' | 'count' | 'duration' | 'boolean' | 'url' | readonly string[]

export interface Setting {
  readonly kind: Kind
  readonly usual: string | number | boolean | undefined
  readonly about: string
}

export const SETTINGS = {
  port: { kind: 'port', usual: 7878, about: 'where the API and the page are' },
  host: { kind: 'text', usual: '127.0.0.1', about: 'the address to listen on; 0.0.0.0 for every one' },
  store: { kind: 'text', usual: undefined, about: 'where receipts are kept; default sqlite in ~/.ibid' },
  localKey: {
    kind: 'boolean',
    usual: undefined,
    about: 'make an API key at the first start and print it; default: only on a loopback address',
  },
  maxBodyBytes: { kind: 'count', usual: 1_048_576, about: 'longer request bodies get 413' },
  maxBatch: { kind: 'count', usual: 1_000, about: 'the most items of one request; more get 413' },
  maxWait: { kind: 'duration', usual: 60_000, about: 'the longest a request may wait for a result' },
  maxWaiters: { kind: 'count', usual: 50_000, about: 'requests that may wait at once; more get 429' },
  maxStreams: { kind: 'count', usual: 1_000, about: 'event streams that may be open at once; more get 429' },
  ratePerSecond: { kind: 'count', usual: 0, about: 'items a second and tenant, 0: no limit; more get 429' },
  burst: { kind: 'count', usual: 0, about: 'items that may come at once; 0: two seconds of ratePerSecond' },
  quotaPerDay: { kind: 'count', usual: 0, about: 'new receipts a day and tenant, 0: no limit; more get 429' },
  shutdown: { kind: 'duration', usual: 10_000, about: 'how long a stop waits for what is under way' },
  metricsPort: { kind: 'port', usual: undefined, about: 'a second port with /metrics alone, without a key' },
  log: { kind: ['info', 'warn', 'error', 'off'], usual: 'info', about: 'the least that is logged' },
  upstream: { kind: 'url', usual: undefined, about: 'stand in front of this API as a reverse proxy' },
  proxyPort: { kind: 'port', usual: 7880, about: 'where the proxy listens' },
  proxyTenant: { kind: 'text', usual: 'proxy', about: 'whose receipts the requests of the proxy are' },
  proxyTenantHeader: {
    kind: 'text',
    usual: undefined,
    about: 'a request header that names the caller, set by something you trust; default: its credentials',
  },
  proxyKeys: {
    kind: ['required', 'optional', 'derived'],
    usual: 'required',
    about: 'what happens to a write without Idempotency-Key: 400, passed on, or a key made of it',
  },
  proxyRecovery: {
    kind: ['hold', 'retry'],
    usual: 'hold',
    about: 'what happens to a write that nobody answered; retry only where the API honours the key',
  },
  mcpUpstream: { kind: 'url', usual: undefined, about: 'stand in front of this MCP server, at /mcp' },
} as const satisfies Readonly<Record<string, Setting>>

type Name = keyof typeof SETTINGS
type Of<S extends Setting> = S['kind'] extends 'text' | 'url'
  ? string
  : S['kind'] extends 'boolean'
    ? boolean
    : S['kind'] extends readonly (infer Choice)[]
      ? Choice
      : number

type Read = {
  readonly [N in Name]: undefined extends (typeof SETTINGS)[N]['usual']
    ? Of<(typeof SETTINGS)[N]> | undefined
    : Of<(typeof SETTINGS)[N]>
}

/** What stands in the configuration file alone. */
export interface FileOnly {
  readonly webhooks: readonly Readonly<Record<string, unknown>>[]
  /** Limits of single tenants, where they are not those of all. */
  readonly tenants: ReadonlyMap<string, TenantLimits>
}

export interface TenantLimits {
  readonly ratePerSecond?: number
  readonly burst?: number
  readonly quotaPerDay?: number
}

export type Settings = Read & FileOnly

const LIMITS = ['ratePerSecond', 'burst', 'quotaPerDay'] as const

export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export function variableOf(name: string): string {
  return `IBID_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

type Given = Readonly<Record<string, unknown>>

export function readSettings(flags: Given, env: NodeJS.ProcessEnv, configFile?: string): Settings {
  const path = configFile ?? env['IBID_CONFIG']
  const file = path === undefined ? {} : readFile(path)
  for (const name of Object.keys(file)) {
    if (name in SETTINGS || name === 'webhooks' || name === 'tenants') continue
    throw invalidIntent(
      `${path}: ${name} is not a setting`,
      `use ${Object.keys(SETTINGS).join(', ')}, webhooks or tenants`,
    )
  }
  const read = Object.entries(SETTINGS).map(([name, setting]: [string, Setting]) => {
    const variable = variableOf(name)
    if (flags[name] !== undefined) return [name, readOne(setting.kind, flags[name], flagOf(name))]
    if (env[variable] !== undefined && env[variable] !== '')
      return [name, readOne(setting.kind, env[variable], variable)]
    if (file[name] !== undefined) return [name, readOne(setting.kind, file[name], `${path}: ${name}`)]
    return [name, setting.usual]
  })
  return {
    ...(Object.fromEntries(read) as Read),
    webhooks: listOf(file['webhooks'], `${path}: webhooks`),
    tenants: tenantsOf(file['tenants'], `${path}: tenants`),
  }
}

function readFile(path: string): Given {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw invalidIntent(
      `the configuration file ${path} cannot be read: ${(error as Error).message}`,
      'give --config a readable file',
    )
  }
  try {
    return objectOf(JSON.parse(text), path)
  } catch (error) {
    throw invalidIntent(
      `the configuration file ${path} is no JSON object: ${(error as Error).message}`,
      'write { "port": 7878, … }',
    )
  }
}

function readOne(kind: Kind, given: unknown, field: string): unknown {
  if (typeof kind !== 'string') {
    if (kind.includes(given as string)) return given
    throw wrong(field, given, `one of ${kind.join(', ')}`)
  }
  switch (kind) {
    case 'text':
      if (typeof given === 'string' && given !== '') return given
      throw wrong(field, given, 'a text')
    case 'boolean':
      if (given === true || given === 'true' || given === '1') return true
      if (given === false || given === 'false' || given === '0') return false
      throw wrong(field, given, 'true or false')
    case 'duration':
      return toMs((/^\d+$/.test(String(given)) ? Number(given) : given) as number, field)
    case 'url':
      if (typeof given === 'string' && URL.canParse(given) && /^https?:$/.test(new URL(given).protocol))
        return given
      throw wrong(field, given, 'a URL with http or https')
    case 'port':
    case 'count':
      return wholeNumber(given, field, kind === 'port' ? 65_535 : Number.MAX_SAFE_INTEGER)
  }
}

function wholeNumber(given: unknown, field: string, most: number): number {
  const number = typeof given === 'number' || /^\d+$/.test(String(given)) ? Number(given) : Number.NaN
  if (Number.isInteger(number) && number >= 0 && number <= most) return number
  throw wrong(field, given, most === 65_535 ? 'a port from 0 to 65535' : 'a whole number')
}

function listOf(given: unknown, field: string): readonly Given[] {
  if (given === undefined) return []
  if (Array.isArray(given)) return given.map((one, at) => objectOf(one, `${field}[${at}]`))
  throw invalidIntent(`${field} is not a list`, 'write "webhooks": [ { … } ]')
}

function tenantsOf(given: unknown, field: string): ReadonlyMap<string, TenantLimits> {
  if (given === undefined) return new Map()
  return new Map(
    Object.entries(objectOf(given, field)).map(([tenant, limits]) => {
      const own = objectOf(limits, `${field}.${tenant}`, LIMITS)
      const read = Object.entries(own).map(([name, value]) => [
        name,
        wholeNumber(value, `${field}.${tenant}.${name}`, Number.MAX_SAFE_INTEGER),
      ])
      return [tenant, Object.fromEntries(read) as TenantLimits]
    }),
  )
}

/** A URL can hold a password: what was given is not repeated where it may be one. */
function wrong(field: string, given: unknown, wanted: string): Error {
  const shown = wanted.startsWith('a URL') ? 'something else' : JSON.stringify(given)
  return invalidIntent(`${field} is ${shown}, not ${wanted}`, `give ${field} ${wanted}`)
}

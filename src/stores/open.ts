/**
 * `openStore`: a store from a URL, as it stands in a configuration file or behind --store. The client library of a
 * store is loaded only when a URL asks for it. A URL can hold a password, so no error ever repeats one: errors name
 * the scheme and the field that is wrong.
 */
import { createRequire } from 'node:module'
import { IbidError, invalidIntent } from '../core/errors.js'
import { onlyKnown } from '../core/known.js'
import type { Store } from '../store.js'
import { dynamodbStore, type DynamodbStoreOptions } from './dynamodb/index.js'
import { memoryStore } from './memory/index.js'
import { type PostgresOptions, postgresStore } from './postgres/index.js'
import { redisStore, type RedisStoreOptions } from './redis/index.js'
import { type SqliteOptions, sqliteStore } from './sqlite/index.js'

/** What a URL has no room for, for whichever store it turns out to be. */
export interface OpenStoreOptions {
  readonly sqlite?: SqliteOptions
  readonly postgres?: PostgresOptions
  readonly redis?: RedisStoreOptions
  readonly dynamodb?: Omit<DynamodbStoreOptions, 'table'>
}

type Open = (url: string, options: OpenStoreOptions) => Store

const KNOWN =
  'sqlite:./ibid.db, sqlite:///var/lib/ibid.db, postgres://…, redis://…, rediss://…, dynamodb://table?region=…, memory:'

export function openStore(url: string, options: OpenStoreOptions = {}): Store {
  onlyKnown(options, ['sqlite', 'postgres', 'redis', 'dynamodb'], 'openStore')
  const scheme = typeof url === 'string' ? /^[a-z][a-z0-9+.-]*(?=:)/i.exec(url)?.[0].toLowerCase() : undefined
  const open = scheme === undefined ? undefined : OPEN.get(scheme)
  if (!open) throw unknownScheme(url)
  return open(`${scheme}${url.slice(scheme?.length)}`, options)
}

const OPEN: ReadonlyMap<string, Open> = new Map([
  ['memory', openMemory],
  ['sqlite', openSqlite],
  ['postgres', openPostgres],
  ['postgresql', openPostgres],
  ['redis', openRedis],
  ['rediss', openRedis],
  ['dynamodb', openDynamodb],
])

function openMemory(url: string): Store {
  if (!/^memory:$/i.test(url)) throw badUrl('a memory: URL has nothing behind its colon', 'write memory:')
  return memoryStore()
}

function openSqlite(url: string, { sqlite }: OpenStoreOptions): Store {
  // Either a path as it is, or three slashes: an authority that is empty, and an absolute path.
  const file = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)(?<file>[^?#]+)$/i.exec(url)?.groups?.['file']
  if (file === undefined) {
    throw badUrl(
      'the path of the sqlite: URL cannot be read',
      'write sqlite:./ibid.db or sqlite:///var/lib/ibid.db',
    )
  }
  return sqliteStore(file, sqlite)
}

function openPostgres(url: string, { postgres }: OpenStoreOptions): Store {
  if (!AUTHORITY.test(url)) throw noServer('postgres://user@host:5432/database')
  needs('postgres', ['pg'])
  return hiding(url, () => postgresStore(url, postgres))
}

function openRedis(url: string, { redis }: OpenStoreOptions): Store {
  if (!AUTHORITY.test(url)) throw noServer('redis://host:6379/0, or rediss:// for TLS')
  needs('redis', ['ioredis', 'redis'])
  return hiding(url, () => redisStore(url, redis))
}

const AUTHORITY = /^[a-z]+:\/\//i

function noServer(example: string): IbidError {
  return badUrl('the store URL has no // in front of its server', `write ${example}`)
}

const DYNAMODB = /^dynamodb:\/\/(?<table>[a-zA-Z0-9_.-]+)\/?(?:\?(?<query>[^#]*))?$/i
const DYNAMODB_PARAMETERS = ['region', 'endpoint']

function openDynamodb(url: string, { dynamodb }: OpenStoreOptions): Store {
  const { table, query } = DYNAMODB.exec(url)?.groups ?? {}
  if (table === undefined) {
    throw badUrl(
      'the table in the dynamodb: URL cannot be read',
      'write dynamodb://table?region=eu-west-1; credentials come from where the AWS SDK finds them, not from the URL',
    )
  }
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].find((name) => !DYNAMODB_PARAMETERS.includes(name))
  if (unknown !== undefined) {
    throw badUrl(
      `the dynamodb: URL has a parameter that is none of ${DYNAMODB_PARAMETERS.join(', ')}`,
      'take it out of the URL; further options go into the second argument of openStore',
    )
  }
  needs('dynamodb', ['@aws-sdk/client-dynamodb'])
  const [region, endpoint] = [parameters.get('region'), parameters.get('endpoint')]
  const config = { ...(region && { region }), ...(endpoint && { endpoint }), ...dynamodb?.config }
  return dynamodbStore({ ...dynamodb, table, config })
}

/** Says so at once, and not at the first call, when none of the packages is installed. */
function needs(store: string, packages: readonly string[]): void {
  const { resolve } = createRequire(import.meta.url)
  if (packages.some((name) => isInstalled(resolve, name))) return
  const installing = packages.map((name) => `npm install ${name}`).join(', or ')
  throw new IbidError(`a ${store} URL needs the package ${packages.join(' or ')}, which is not installed`, {
    code: 'STORE_UNAVAILABLE',
    retriable: false,
    action: `run: ${installing}`,
  })
}

function isInstalled(resolve: (name: string) => string, name: string): boolean {
  try {
    resolve(name)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'MODULE_NOT_FOUND'
  }
}

/** A client library may put what it was given into its error. */
function hiding(url: string, open: () => Store): Store {
  try {
    return open()
  } catch (error) {
    const said = error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error)
    if (error instanceof IbidError && !secretsOf(url).some((secret) => said.includes(secret))) throw error
    throw badUrl('the store URL cannot be used', 'check its user, host, port and parameters')
  }
}

function secretsOf(url: string): readonly string[] {
  const password = /^[^:]+:\/\/[^@/]*?:([^@]*)@/.exec(url)?.[1] ?? ''
  return [password, url].filter((secret) => secret !== '')
}

function unknownScheme(url: unknown): IbidError {
  const shown = typeof url === 'string' ? /^[a-z][a-z0-9+.-]{0,20}(?=:\/\/)/i.exec(url)?.[0] : undefined
  return badUrl(
    shown === undefined
      ? 'the store URL does not start with the name of a store'
      : `the scheme of the store URL is ${shown}, which is no store`,
    `write one of: ${KNOWN}`,
  )
}

function badUrl(message: string, action: string): IbidError {
  return invalidIntent(message, action)
}

/**
 * `--store`, `--tenant` and `--json`, which most commands share. A command looks at a store that is there: a SQLite
 * file that does not exist is a typing error, not an empty store. Commands never sweep or purge in the background.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { IbidError, invalidIntent } from '../core/errors.js'
import { createIbid, type Ibid } from '../index.js'
import type { Store } from '../store.js'
import { openStore } from '../stores/open.js'
import { ownFile } from './own-store.js'
import { keepSecret, shownUrl } from './secrets.js'

export interface StoreOptions {
  readonly store?: string
  readonly tenant?: string
  readonly json?: true
}

const DEFAULT = 'sqlite:./ibid.db'

export function withStore(command: Command): Command {
  return command
    .option('--store <url>', `where receipts are kept (default: $IBID_STORE, or ${DEFAULT})`)
    .option('--json', 'print JSON')
}

export function withTenant(command: Command): Command {
  return command.option('--tenant <name>', 'whose receipts (default: $IBID_TENANT)')
}

export interface Opened {
  readonly store: Store
  /** May be shown. */
  readonly url: string
  readonly from: '--store' | 'IBID_STORE' | 'default'
}

export function storeUrl({ store }: StoreOptions): { readonly url: string; readonly from: Opened['from'] } {
  const { IBID_STORE } = process.env
  if (store !== undefined) return { url: store, from: '--store' }
  return IBID_STORE ? { url: IBID_STORE, from: 'IBID_STORE' } : { url: DEFAULT, from: 'default' }
}

export function openExisting(options: StoreOptions): Opened {
  const { url, from } = storeUrl(options)
  keepSecret(url)
  if (/^memory:/i.test(url)) {
    throw invalidIntent(
      `${from === 'default' ? 'the store' : from} is memory:, which lives in another process, if at all`,
      'give the URL of a store that is kept: sqlite:./ibid.db, postgres://…, redis://…, dynamodb://…',
    )
  }
  const file = sqliteFile(url)
  if (file !== undefined && !existsSync(file)) {
    throw new IbidError(`there is no file ${file} (from ${from})`, {
      code: 'STORE_UNAVAILABLE',
      retriable: false,
      action: elsewhere(from),
    })
  }
  return { store: openStore(url), url: file === undefined ? shownUrl(url) : `sqlite:${file}`, from }
}

/** Whoever comes from the server or the MCP gateway has receipts, only not in this folder. */
function elsewhere(from: Opened['from']): string {
  const own = ownFile()
  return from === 'default' && existsSync(own)
    ? `ibid serve, keys and mcp keep their receipts in ${own}: give --store sqlite:${own}, or set IBID_STORE`
    : 'give --store the URL of a store that exists, such as sqlite:/path/to/ibid.db, or set IBID_STORE'
}

/** The file of a sqlite: URL that openStore will take; whatever else it is, openStore judges. */
export function sqliteFile(url: string): string | undefined {
  const path = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?#]+)$/i.exec(url)?.[1]
  return path === undefined ? undefined : resolve(path)
}

/** Opens, works, and closes whatever happens. */
export async function useStore<T>(options: StoreOptions, work: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = openExisting(options)
  try {
    return await work(opened)
  } finally {
    await opened.store.close()
  }
}

export interface OpenedIbid extends Opened {
  readonly ibid: Ibid
}

export async function useIbid<T>(
  options: StoreOptions & { readonly auditWindowMs?: number },
  work: (opened: OpenedIbid) => Promise<T>,
): Promise<T> {
  const opened = openExisting(options)
  const { auditWindowMs } = options
  const ibid = createIbid({
    store: opened.store,
    housekeeping: false,
    cache: false,
    ...(auditWindowMs !== undefined && { auditWindow: auditWindowMs }),
  })
  try {
    return await work({ ...opened, ibid })
  } finally {
    await ibid.close()
  }
}

export function tenantOf({ tenant }: StoreOptions): string | undefined {
  return tenant ?? (process.env['IBID_TENANT'] || undefined)
}

/** For commands about one receipt. */
export function mustHaveTenant(options: StoreOptions): string {
  const tenant = tenantOf(options)
  if (tenant !== undefined) return tenant
  throw invalidIntent('--tenant is missing', 'say whose receipt it is: --tenant NAME, or set IBID_TENANT')
}

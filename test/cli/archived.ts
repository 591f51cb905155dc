/** A store worth archiving, the archive of it, and what is left: what the tests of archive share. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import type { Receipt } from '../../src/core/receipt.js'
import { createIbid, OutcomeUnknown, Rejected } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { type Filled, filled, HOUR_MS, ibid } from './command.js'

export interface Archived {
  readonly rows: number
  readonly purged: number
  readonly from: number | null
  readonly files: readonly { readonly name: string; readonly rows: number; readonly sha256: string }[]
  readonly manifest: string
}

export interface Row {
  readonly key: string
  readonly state: string
  readonly outcome: string | null
  readonly settled_at: string
}

/** Twenty that ended, five within their window, and one each of what an archive must leave alone. */
export async function store(): Promise<Filled> {
  return await filled(async ({ ibid: own, clock }) => {
    clock[0] = -3 * HOUR_MS
    for (let i = 0; i < 20; i++)
      await own.once({ scope: 's', key: `ended-${i}` }, () => ({ i }), { window: '1h' })
    for (let i = 0; i < 5; i++) await own.once({ scope: 's', key: `kept-${i}` }, () => i, { window: '7d' })
    const refused = own.once({ scope: 's', key: 'refused' }, () => Promise.reject(new Rejected('no')), {
      window: '7d',
    })
    await expect(refused).rejects.toThrow('no')
    const held = own.once({ scope: 's', key: 'held' }, () => Promise.reject(new OutcomeUnknown('?')))
    await expect(held).rejects.toThrow('?')
    clock[0] = 0
    await own.once({ scope: 's', key: 'young' }, () => 1, { window: '7d' })
  })
}

export async function archive(url: string, to: string, ...flags: string[]): Promise<Archived> {
  const ran = await ibid(['archive', '--store', url, '--to', to, ...flags, '--json'])
  expect(ran.stderr).toBe('')
  return ran.json<Archived>()
}

export function rowsIn(folder: string, { files }: Archived): readonly Row[] {
  return files.flatMap(({ name }) => lines(gunzipSync(readFileSync(join(folder, name))).toString()))
}

export function lines(text: string): readonly Row[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
}

export async function keysLeft(file: string): Promise<readonly string[]> {
  const own = createIbid({ store: sqliteStore(file), tenant: 'acme', housekeeping: false })
  const { receipts } = await own.list({ limit: 1_000 })
  await own.close()
  return receipts.map(({ key }) => key)
}

export async function receiptsOf(file: string): Promise<readonly Receipt[]> {
  const raw = sqliteStore(file)
  const { receipts } = await raw.scan({ limit: 1_000 })
  await raw.close()
  return receipts
}

export async function countOf(file: string): Promise<number> {
  return (await receiptsOf(file)).length
}

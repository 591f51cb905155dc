/** A cursor that no page came with is refused, once and for all: it is neither an outage nor the end of the list. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'

const STORES: readonly (readonly [name: string, open: () => Store])[] = [
  ['memory', () => memoryStore()],
  ['sqlite', () => sqliteStore(join(mkdtempSync(join(tmpdir(), 'ibid-cursors-')), 'ibid.db'))],
]

it.each(STORES)('%s: of a list, or of the log in either direction', async (_, open) => {
  const store = open()
  const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
  await ibid.once({ scope: 's', key: 'k' }, () => 1)
  const refusal = { code: 'INVALID_INTENT', retriable: false }
  for (const cursor of ['junk', '-1', '1.5', '["acme"]']) {
    await expect(ibid.list({ cursor }), cursor).rejects.toMatchObject(refusal)
    for (const newestFirst of [false, true])
      await expect(store.audit({ limit: 10, cursor, newestFirst }), cursor).rejects.toMatchObject(refusal)
  }
  expect((await ibid.list()).receipts).toHaveLength(1)
  await ibid.close()
})

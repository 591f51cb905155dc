/** archive --delete: what it forgets stands in the files of the same run, read back and compared before. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createIbid } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { type Archived, archive, countOf, keysLeft, receiptsOf, rowsIn, store } from './archived.js'
import { filled, HOUR_MS, ibid } from './command.js'

describe('archive --delete', () => {
  test('[R52] deletes only what has ended, after the files are there', async () => {
    const { url, file, folder } = await store()
    const result = await archive(url, folder, '--delete')
    expect(result).toMatchObject({ rows: 26, purged: 20 })
    const left = await keysLeft(file)
    expect(left.toSorted()).toEqual([
      'held',
      'kept-0',
      'kept-1',
      'kept-2',
      'kept-3',
      'kept-4',
      'refused',
      'young',
    ])
    const gone = rowsIn(folder, result).filter(({ key }) => key.startsWith('ended-'))
    expect(gone).toHaveLength(20)
  })

  test('[R52] with --delete, what ended is archived even when it is younger than --older-than', async () => {
    const { url, folder } = await filled(async ({ ibid: own, clock }) => {
      clock[0] = -60_000
      await own.once({ scope: 's', key: 'short' }, () => 1, { window: '1s' })
      clock[0] = 0
    })
    const result = await archive(url, folder, '--older-than', '1h', '--delete')
    expect(result).toMatchObject({ rows: 1, purged: 1 })
    expect(rowsIn(folder, result)).toMatchObject([{ key: 'short' }])
  })

  test('[R52] what is settled and ends while it runs is not deleted: it stands in no file', async () => {
    const { url, file, folder } = await store()
    const script = join(folder, 'meanwhile.mjs')
    writeFileSync(script, meanwhile(file))
    const preload = join(folder, 'preload.mjs')
    writeFileSync(preload, beforeTheCheck(`execFileSync(process.execPath, [${JSON.stringify(script)}])`))
    const ran = await ibid(['archive', '--store', url, '--to', folder, '--delete', '--json'], {
      env: { NODE_OPTIONS: `--import ${preload}` },
    })
    expect(ran.stderr).toBe('')
    const result = ran.json<Archived>()
    expect(result).toMatchObject({ rows: 26, purged: 20 })
    const left = await receiptsOf(file)
    const young = left.filter(({ key }) => key.startsWith('meanwhile'))
    expect(young.map(({ key }) => key).sort()).toEqual(['meanwhile', 'meanwhile-released'])
    expect(young.every(({ until }) => (until as number) < Date.now())).toBe(true)
    expect(rowsIn(folder, result).map(({ key }) => key)).not.toContain('meanwhile')
    // The next run finds it, writes it, and only then deletes it. Nothing came of the released one: it stays.
    expect(await archive(url, folder, '--delete')).toMatchObject({ rows: 1, purged: 1 })
    expect((await receiptsOf(file)).map(({ key }) => key)).toContain('meanwhile-released')
  })

  test('[R52] one tenant alone, and no event of the audit log', async () => {
    const { url, file, folder } = await filled(async ({ ibid: own, clock }) => {
      clock[0] = -60 * 24 * HOUR_MS
      for (const tenant of ['acme', 'zeta'])
        await own.once({ tenant, scope: 's', key: 'ended' }, () => 1, { window: '1h' })
      clock[0] = 0
    })
    const to = join(folder, 'acme')
    const result = await archive(url, to, '--delete', '--tenant', 'acme')
    expect(result).toMatchObject({ rows: 1, purged: 1 })
    expect((await receiptsOf(file)).map(({ tenant }) => tenant)).toEqual(['zeta'])
    const raw = sqliteStore(file)
    const { events } = await raw.audit({ limit: 100 })
    await raw.close()
    const names = events.filter(({ tenant }) => tenant === 'acme').map(({ event }) => event)
    expect(names).toEqual(['claimed', 'settled', 'expired'])
  })

  test('[R52] nothing is deleted when the files cannot be written', async () => {
    const { url, file, folder } = await store()
    const to = join(folder, 'not-a-folder')
    writeFileSync(to, 'a file')
    const ran = await ibid(['archive', '--store', url, '--to', to, '--delete'])
    expect(ran.code).not.toBe(0)
    expect(await countOf(file)).toBe(28)
  })

  test.each(['truncated', 'altered'])('[R52] nothing is deleted when a file comes back %s', async (how) => {
    const { url, file, folder } = await store()
    const preload = join(folder, 'bad-disk.mjs')
    writeFileSync(preload, badDisk(how))
    const ran = await ibid(['archive', '--store', url, '--to', folder, '--delete', '--json'], {
      env: { NODE_OPTIONS: `--import ${preload}` },
    })
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'ARCHIVE_NOT_VERIFIED' } })
    expect(readdirSync(folder).filter((name) => name.endsWith('.manifest.json'))).toEqual([])
    expect(await countOf(file)).toBe(28)
  })

  test('[R52] claims go on while it runs', async () => {
    const { url, file, folder } = await store()
    const own = createIbid({ store: sqliteStore(file), tenant: 'acme', housekeeping: false })
    const over = new AbortController()
    const archiving = archive(url, folder, '--delete').finally(() => over.abort())
    let claims = 0
    while (!over.signal.aborted) {
      await own.once({ scope: 'live', key: `k${claims++}` }, () => 1)
      // Commits may be done on this thread: the end of the other process is seen only between turns.
      await nextTurn()
    }
    expect(await archiving).toMatchObject({ purged: 20 })
    expect(claims).toBeGreaterThan(1)
    await own.close()
  })
})

/** Another process that settles something with a window of a millisecond. */
function meanwhile(file: string): string {
  const dist = new URL('../../dist/', import.meta.url).href
  return `import { createIbid, NotExecuted } from '${dist}index.js'
import { sqliteStore } from '${dist}stores/sqlite/index.js'
const ibid = createIbid({ store: sqliteStore(${JSON.stringify(file)}), tenant: 'acme', housekeeping: false })
await ibid.once({ scope: 's', key: 'meanwhile' }, () => 1, { window: 1 })
const released = { scope: 's', key: 'meanwhile-released' }
await ibid.once(released, () => Promise.reject(new NotExecuted('no')), { window: 1 }).catch(() => {})
await new Promise((resolve) => setTimeout(resolve, 5))
await ibid.close()
`
}

/** A disk that gives back something else than was written to it, between the write and the check. */
function badDisk(how: string): string {
  const change =
    how === 'truncated'
      ? 'bytes.subarray(0, bytes.length - 9)'
      : `gzipSync(gunzipSync(bytes).toString().replace('ended-7', 'ended-X'))`
  return beforeTheCheck(`const bytes = fs.readFileSync(path)
    fs.writeFileSync(path, ${change})`)
}

/** Runs in the command, after a file was written and before it is read back. */
function beforeTheCheck(then: string): string {
  return `import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { syncBuiltinESMExports } from 'node:module'
const read = fs.createReadStream
delete process.env.NODE_OPTIONS
let isDone = false
fs.createReadStream = (path, ...rest) => {
  if (!isDone && String(path).endsWith('.ndjson.gz.partial')) {
    isDone = true
    ${then}
  }
  return read(path, ...rest)
}
syncBuiltinESMExports()
`
}

/** archive: every settled receipt once, files that other tools read, verified before anything is forgotten. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createIbid, OutcomeUnknown, Rejected } from '../../src/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'
import { type Filled, filled, HOUR_MS, ibid } from './command.js'

interface Archived {
  readonly rows: number
  readonly purged: number
  readonly from: number | null
  readonly files: readonly { readonly name: string; readonly rows: number; readonly sha256: string }[]
  readonly manifest: string
}

interface Row {
  readonly key: string
  readonly state: string
  readonly outcome: string | null
  readonly settled_at: string
}

/** Twenty that ended, five within their window, and one each of what an archive must leave alone. */
async function store(): Promise<Filled> {
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

async function archive(url: string, to: string, ...flags: string[]): Promise<Archived> {
  const ran = await ibid(['archive', '--store', url, '--to', to, ...flags, '--json'])
  expect(ran.stderr).toBe('')
  return ran.json<Archived>()
}

function rowsIn(folder: string, { files }: Archived): readonly Row[] {
  return files.flatMap(({ name }) => lines(gunzipSync(readFileSync(join(folder, name))).toString()))
}

function lines(text: string): readonly Row[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
}

async function keysLeft(file: string): Promise<readonly string[]> {
  const own = createIbid({ store: sqliteStore(file), tenant: 'acme', housekeeping: false })
  const { receipts } = await own.list({ limit: 1_000 })
  await own.close()
  return receipts.map(({ key }) => key)
}

describe('archive', () => {
  test('[R52] writes what is old enough, and goes on where it ended', async () => {
    const { url, folder } = await store()
    const to = join(folder, 'cold')
    const first = await archive(url, to, '--rows-per-file', '10')
    expect(first).toMatchObject({ rows: 26, purged: 0, from: null })
    expect(first.files.map(({ rows }) => rows)).toEqual([10, 10, 6])
    const keys = rowsIn(to, first).map(({ key }) => key)
    expect(new Set(keys).size).toBe(26)
    expect(keys).not.toContain('held')
    expect(keys).not.toContain('young')
    const second = await archive(url, to, '--older-than', '0')
    expect(second.from).not.toBeNull()
    expect(rowsIn(to, second).map(({ key }) => key)).toEqual(['young'])
    expect(await archive(url, to, '--older-than', '0')).toMatchObject({ rows: 0, files: [] })
    expect(await archive(url, to, '--all')).toMatchObject({ rows: 26, from: null })
  })

  test('files that zcat and sha256sum agree with, and nobody else can read', async () => {
    const { url, folder } = await store()
    const result = await archive(url, folder)
    const [file] = result.files
    const path = join(folder, file?.name ?? '')
    const rows = lines(execFileSync('zcat', [path], { encoding: 'utf8' }))
    expect(rows).toHaveLength(26)
    expect(rows.find(({ key }) => key === 'ended-7')).toMatchObject({
      state: 'succeeded',
      outcome: '{"value":{"i":7}}',
    })
    expect(rows.find(({ key }) => key === 'refused')?.outcome).toContain('"message":"no"')
    expect(Date.parse(rows[0]?.settled_at ?? '')).toBeLessThan(Date.now() - 2 * HOUR_MS)
    expect(rows[0]).not.toHaveProperty('token')
    expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(file?.sha256)
    expect(statSync(path).mode & 0o077).toBe(0)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
    const manifest = JSON.parse(readFileSync(result.manifest, 'utf8')) as Archived
    expect(manifest).toMatchObject({ rows: 26, files: result.files })
    const bare = await archive(url, join(folder, 'bare'), '--no-outcomes')
    expect(rowsIn(join(folder, 'bare'), bare).every(({ outcome }) => outcome === null)).toBe(true)
  })

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

  test('bad input names the flag, and leaves no file', async () => {
    const { url, folder } = await store()
    const to = join(folder, 'cold')
    const flags: readonly [string, readonly string[]][] = [
      ['--to', ['--store', url]],
      ['--older-than', ['--store', url, '--to', to, '--older-than', 'soon']],
      ['--format', ['--store', url, '--to', to, '--format', 'xml']],
      ['--delete', ['--store', url, '--to', to, '--delete', '--tenant', 'acme']],
    ]
    const ran = await Promise.all(flags.map(([, args]) => ibid(['archive', ...args])))
    expect(ran.map(({ code }) => code)).toEqual([2, 2, 2, 2])
    expect(ran.map(({ stderr }, at) => stderr.includes(flags[at]?.[0] ?? '?'))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(existsSync(to)).toBe(false)
  })

  test('a folder belongs to one store', async () => {
    const [a, b] = [await store(), await store()]
    await archive(a.url, a.folder)
    const ran = await ibid(['archive', '--store', b.url, '--to', a.folder])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('--to is the archive of')
  })

  test('says so when windows are too short to be archived in time', async () => {
    const { url, folder } = await store()
    const ran = await ibid(['archive', '--store', url, '--to', folder])
    expect(ran.stdout).toMatch(/^archived +26 receipts in 1 file, /m)
    expect(ran.stdout).toMatch(/^forgotten +none/m)
    expect(ran.stdout).toContain('windows are 1 h long')
  })
})

const hasParquet = ['hyparquet', 'hyparquet-writer'].every((name) =>
  existsSync(join(import.meta.dirname, '../../node_modules', name)),
)

const PARQUET_NAME = hasParquet
  ? '[R52] parquet: verified, then deleted'
  : 'parquet: without its package, says what to install'

/** Its package is an optional peer: either way there is something to hold. */
const PARQUET = hasParquet
  ? { code: 0, ends: ['PAR1PAR1'], modes: [0], left: 8, says: false }
  : { code: 2, ends: [], modes: [], left: 28, says: true }

test(PARQUET_NAME, async () => {
  const { url, file, folder } = await store()
  const ran = await ibid(['archive', '--store', url, '--to', folder, '--format', 'parquet', '--delete'])
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.parquet'))
    .map((name) => join(folder, name))
  const bytes = files.map((path) => readFileSync(path))
  expect({
    code: ran.code,
    ends: bytes.map((all) => all.subarray(0, 4).toString() + all.subarray(-4).toString()),
    modes: files.map((path) => statSync(path).mode & 0o077),
    left: await countOf(file),
    says: ran.stderr.includes('npm install hyparquet-writer'),
  }).toEqual(PARQUET)
})

async function countOf(file: string): Promise<number> {
  const raw = sqliteStore(file)
  const { receipts } = await raw.scan({ limit: 1_000 })
  await raw.close()
  return receipts.length
}

/** A disk that gives back something else than was written to it, between the write and the check. */
function badDisk(how: string): string {
  const change =
    how === 'truncated'
      ? 'bytes.subarray(0, bytes.length - 9)'
      : `gzipSync(gunzipSync(bytes).toString().replace('ended-7', 'ended-X'))`
  return `import fs from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { syncBuiltinESMExports } from 'node:module'
const read = fs.createReadStream
fs.createReadStream = (path, ...rest) => {
  if (String(path).endsWith('.ndjson.gz.partial')) {
    const bytes = fs.readFileSync(path)
    fs.writeFileSync(path, ${change})
  }
  return read(path, ...rest)
}
syncBuiltinESMExports()
`
}

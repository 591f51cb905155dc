/** archive: every settled receipt once, in files that other tools read. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ndjson } from '../../src/cli/archive/ndjson.js'
import { type Archived, archive, countOf, lines, rowsIn, store } from './archived.js'
import { HOUR_MS, ibid } from './command.js'

test('[R52] a file that fails between two rows is told to the next who writes, and ends no program', async () => {
  const { folder } = await store()
  const file = await ndjson.create(join(folder, 'not there', 'x.ndjson.gz'))
  await setTimeout(50)
  await expect(file.write({} as never)).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(file.finish()).rejects.toMatchObject({ code: 'ENOENT' })
})

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

  test('bad input names the flag, and leaves no file', async () => {
    const { url, folder } = await store()
    const to = join(folder, 'cold')
    const flags: readonly [string, readonly string[]][] = [
      ['--to', ['--store', url]],
      ['--older-than', ['--store', url, '--to', to, '--older-than', 'soon']],
      ['--format', ['--store', url, '--to', to, '--format', 'xml']],
      ['--rows-per-file', ['--store', url, '--to', to, '--rows-per-file', '0']],
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
    const all = await ibid(['archive', '--store', b.url, '--to', a.folder, '--all'])
    expect(all).toMatchObject({ code: 2, stderr: ran.stderr, stdout: '' })
    const file = await ibid(['archive', '--store', a.url, '--to', a.file])
    expect(file).toMatchObject({ code: 2, stderr: expect.stringContaining('--to') as string })
  })

  test('says so when windows are too short to be archived in time', async () => {
    const { url, folder } = await store()
    const ran = await ibid(['archive', '--store', url, '--to', folder])
    expect(ran.stdout).toMatch(/^archived +26 receipts in 1 file, /m)
    expect(ran.stdout).toMatch(/^forgotten +none/m)
    expect(ran.stdout).toContain('windows are 1 h long')
  })
})

/** The packages are optional. Where they are, or where package.json says that they should be, they have to work. */
const PACKAGES = ['hyparquet-writer', 'hyparquet']
const root = join(import.meta.dirname, '../..')
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>
}
const isExpected = PACKAGES.some(
  (name) => name in devDependencies || existsSync(join(root, 'node_modules', name)),
)

interface Reading {
  asyncBufferFromFile(path: string): Promise<object>
  parquetReadObjects(options: { file: object }): Promise<readonly { key: string; ends_at: Date | null }[]>
}

const PARQUET = {
  '[R52] parquet: read by its own reader, verified, then deleted': async () => {
    const { url, file, folder } = await store()
    const args = ['archive', '--store', url, '--to', folder, '--format', 'parquet', '--delete', '--json']
    const ran = await ibid(args)
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.json<Archived>()).toMatchObject({ rows: 26, purged: 20 })
    const paths = readdirSync(folder).filter((name) => name.endsWith('.parquet'))
    expect(paths).toHaveLength(1)
    const path = join(folder, paths[0] as string)
    expect(statSync(path).mode & 0o077).toBe(0)
    const reading = (await import(PACKAGES[1] as string)) as Reading
    const rows = await reading.parquetReadObjects({ file: await reading.asyncBufferFromFile(path) })
    expect(rows.filter(({ key }) => key.startsWith('ended-'))).toHaveLength(20)
    expect(rows.every(({ ends_at: endsAt }) => endsAt instanceof Date)).toBe(true)
    expect(await countOf(file)).toBe(8)
  },
  'parquet: without its packages, says what to install, and leaves everything': async () => {
    const { url, file, folder } = await store()
    const ran = await ibid(['archive', '--store', url, '--to', folder, '--format', 'parquet', '--delete'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('npm install hyparquet-writer')
    expect(readdirSync(folder).filter((name) => name.startsWith('receipts-'))).toEqual([])
    expect(await countOf(file)).toBe(28)
  },
}
const [NAME, RUN] = Object.entries(PARQUET)[isExpected ? 0 : 1] as [string, () => Promise<void>]
test(NAME, () => RUN())

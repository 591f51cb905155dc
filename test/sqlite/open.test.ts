/** Opening: eight at once, and every file that cannot be used is refused in words, with nothing written to it. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { check } from '../../dist/stores/sqlite/check.js'
import type { Connection } from '../../dist/stores/sqlite/connection.js'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'
import { driver } from '../../dist/stores/sqlite/open.js'
import { draft, put } from '../../src/testing/store/drafts.js'
import { countOf, newFile, open, tamper, valueOf } from './bench.js'
import { run } from './spawn.js'

describe('opening a file', () => {
  it('[R60] lets eight processes make it at the same moment', async () => {
    const file = newFile()
    const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
    const told = await Promise.all(Array.from({ length: 8 }, () => run('claim', file, { keys, batch: 5 })))
    expect(told.map(({ code }) => code)).toEqual(Array(8).fill(0))
    expect(told.flatMap(({ won }) => won as string[]).toSorted()).toEqual(keys.toSorted())
    expect(countOf(tamper(file), 'ibid_meta')).toBe(1)
  })

  it('opens nothing before the first call', async () => {
    const file = newFile()
    open(file)
    expect(existsSync(file)).toBe(false)
  })

  it('shares the file with the tables and the migrations of the program', async () => {
    const file = newFile()
    const db = tamper(file)
    db.exec('CREATE TABLE mine (a TEXT); PRAGMA user_version = 77')
    await put(open(file))
    expect([valueOf(db, 'PRAGMA user_version'), countOf(db, 'mine')]).toEqual([77, 0])
  })

  it('refuses the schema of a newer release, and leaves it as it is', async () => {
    const file = newFile()
    await put(open(file))
    const db = tamper(file)
    db.exec('UPDATE ibid_meta SET version = 99')
    const store = open(file)
    await expect(store.claim([draft()])).rejects.toThrow(/schema version 99.*knows versions up to 1/)
    expect(countOf(db, 'ibid_receipt')).toBe(1)
    db.exec('UPDATE ibid_meta SET version = 1')
    await put(store)
  })

  it('notices that a newer release has changed the file while it was open', async () => {
    const file = newFile()
    const store = open(file)
    await put(store)
    const db = tamper(file)
    db.exec('UPDATE ibid_meta SET version = 2')
    await expect(store.claim([draft()])).rejects.toThrow(/schema version 2/)
    expect(countOf(db, 'ibid_receipt')).toBe(1)
  })

  it('refuses what is no database, and does not touch it', async () => {
    const file = newFile()
    const text = 'Dear diary, today I was not a database.\n'.repeat(200)
    writeFileSync(file, text)
    const store = open(file)
    for (const call of [() => store.claim([draft()]), () => store.get([draft()]), () => store.check()]) {
      await expect(call()).rejects.toThrow(/ibid\.db is not an SQLite database/)
    }
    expect(readFileSync(file, 'utf8')).toBe(text)
    rmSync(file)
    await put(store)
  })

  it('refuses a damaged file, and says what to do', async () => {
    const file = newFile()
    const store = open(file)
    await store.claim(Array.from({ length: 300 }, () => draft()))
    await store.close()
    const bytes = readFileSync(file)
    bytes.fill(0xa5, 4_096)
    writeFileSync(file, bytes)
    const failure = await open(file)
      .claim([draft()])
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: false })
    expect((failure as Error).message).toMatch(/ibid\.db is damaged \(database disk image is malformed\)/)
  })

  it('tells at the first call, and not before, of a name that no file can have', async () => {
    const store = sqliteStore(join(tmpdir(), 'x'.repeat(5_000)))
    await expect(store.claim([draft()])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.close()
  })

  it('refuses a directory that is not there, and works once it is', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ibid-sqlite-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const store = sqliteStore(join(directory, 'later', 'ibid.db'))
    await expect(store.claim([draft()])).rejects.toThrow(/later.ibid\.db cannot be opened/)
    mkdirSync(join(directory, 'later'))
    await put(store)
    await store.close()
  })

  it.each(['', ':memory:', 'file::memory:?cache=shared'])('refuses %j, which is not a file', (name) => {
    expect(() => sqliteStore(name)).toThrow(/ends with this process.*memoryStore/)
  })

  it('[R12] refuses to claim in a file that it may only read', async () => {
    const file = newFile()
    await open(file).claim([draft()])
    chmodSync(dirname(file), 0o755)
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) chmodSync(file + end, 0o444)
    // The rights of a file do not hold root up: the child gives them away.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined
    const size = statSync(file).size
    expect(await run('fail', file, { uid })).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/ibid\.db cannot be (written|opened)/) as unknown,
    })
    expect(statSync(file).size).toBe(size)
  })
})

describe('check', () => {
  it('[R55] tells the settings that the promises rest on', async () => {
    const { findings, facts } = await open(newFile()).check()
    expect(findings).toEqual([])
    expect(facts).toMatchObject({ journalMode: 'wal', synchronous: 2, schema: 1, thread: 'auto' })
  })

  it('[R55] finds a file without a log, and a commit that does not wait for the disk', () => {
    const file = newFile()
    const db = driver().open(file)
    db.exec('PRAGMA synchronous = NORMAL')
    const { findings } = check({ db } as unknown as Connection)
    db.close()
    expect(findings.map(({ level, code }) => [level, code])).toEqual([
      ['error', 'NOT_WAL'],
      ['error', 'NOT_DURABLE'],
    ])
  })
})

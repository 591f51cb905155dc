/** Examples are programs: each one runs, from an empty folder, and ends well. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesUnder, root } from './files.js'

const examples = filesUnder('examples').filter((path) => /^examples\/[^/]+\.mjs$/.test(path))

test('there are examples', () => {
  expect(examples).not.toEqual([])
})

test.each(examples)('%s', (path) => {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-example-'))
  try {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [join(root, path)], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 50_000,
    })
    expect(signal ?? status, `${stdout}${stderr}`).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

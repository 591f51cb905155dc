/** package.json against the files: what is exported exists, and what is meant to be imported is exported. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesUnder, manifest, read, root } from './files.js'

const entries = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === 'string' ? [] : [{ subpath, ...target }],
)

describe('exports', () => {
  test.each(entries)('$subpath has a source and was built', ({ types, default: built }) => {
    expect(types).toBe(built.replace(/\.js$/, '.d.ts'))
    expect(existsSync(join(root, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')))).toBe(true)
    for (const file of [types, built])
      expect(existsSync(join(root, file)), `${file}: npm run build`).toBe(true)
  })

  test.each(entries)('$subpath can be imported by its name', ({ subpath }) => {
    const name = `${manifest.name}${subpath.slice(1)}`
    execFileSync(process.execPath, ['--input-type=module', '-e', `await import('${name}')`], {
      cwd: root,
      stdio: 'pipe',
    })
  })

  test('every store, every guard and the rest of the public rooms are there', () => {
    const rooms = filesUnder('src').filter((path) =>
      /^src\/(index|store|stores\/open|(key|plan|testing|(stores|guards)\/[^/]+)\/index|adapters\/[^/]+)\.ts$/.test(
        path,
      ),
    )
    const exported = entries.map((entry) => entry.default)
    expect(exported.toSorted()).toEqual(
      rooms.map((path) => `./${path.replace('src/', 'dist/').replace(/\.ts$/, '.js')}`).toSorted(),
    )
  })
})

describe('dependencies', () => {
  test('tools are pinned to the digit', () => {
    const loose = Object.entries(manifest.devDependencies).filter(
      ([, range]) => !/^\d+\.\d+\.\d+$/.test(range),
    )
    expect(loose).toEqual([])
  })

  test('every peer is optional, and installed for the tests', () => {
    for (const name of Object.keys(manifest.peerDependencies)) {
      expect(manifest.peerDependenciesMeta[name]?.optional, name).toBe(true)
      expect(manifest.devDependencies, name).toHaveProperty([name])
    }
  })
})

describe('package-lock.json', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>
  }

  test('names no place that packages were fetched from', () => {
    expect(Object.keys(packages).filter((path) => packages[path]?.resolved !== undefined)).toEqual([])
  })

  // npm ci refuses a lock in which the packages of other platforms are missing.
  test('lists the packages of every platform', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      ),
    )
    expect(missing).toEqual([])
  })
})

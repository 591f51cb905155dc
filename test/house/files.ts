/** The files of the house, as the tests about the house see them: paths from the root, with forward slashes. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Everything that people write and git keeps. */
export function houseFiles(): string[] {
  const folders = ['src', 'dashboard', 'test', 'scripts', 'examples', 'bench', 'docs', '.ci']
  const top = readdirSync(root).filter((name) => !name.endsWith('.db') && statSync(join(root, name)).isFile())
  return [...top, ...folders.flatMap(filesUnder)]
}

export function filesUnder(folder: string): string[] {
  let names: string[]
  try {
    names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
  return names
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => !/\/(results|node_modules)\/|\.png$/.test(path) && statSync(join(root, path)).isFile())
    .sort()
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly scripts: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
}

export const manifest = JSON.parse(read('package.json')) as Manifest

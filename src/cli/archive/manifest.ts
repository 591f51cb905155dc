/**
 * What an archive run has written: files, counts, checksums, and up to which instant of the store's clock. The next run
 * into the same folder goes on from there. A manifest is written last: files without one are not an archive.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { invalidIntent } from '../../core/errors.js'
import { flush } from './ndjson.js'

export interface ArchiveFile {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  /** Of the file as it is on disk: sha256sum gives the same. */
  readonly sha256: string
}

export interface Manifest {
  readonly ibid: 'archive'
  readonly version: 1
  readonly store: string
  readonly tenant: string | null
  readonly format: string
  readonly outcomes: boolean
  /** Settled at or after; null: from the beginning. Milliseconds of the store's clock. */
  readonly from: number | null
  /** Settled before. */
  readonly upTo: number
  readonly rows: number
  readonly files: readonly ArchiveFile[]
}

const SUFFIX = '.manifest.json'

export async function writeManifest(folder: string, name: string, manifest: Manifest): Promise<string> {
  const path = join(folder, `${name}${SUFFIX}`)
  const file = await open(`${path}.partial`, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.partial`, path)
  await flush(folder)
  return path
}

/** All of them, oldest first. */
export async function readManifests(folder: string): Promise<readonly Manifest[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const manifests: Manifest[] = []
  for (const name of names.filter((each) => each.endsWith(SUFFIX)))
    manifests.push(parse(name, await readFile(join(folder, name), 'utf8')))
  return manifests.sort((a, b) => a.upTo - b.upTo)
}

function parse(name: string, text: string): Manifest {
  try {
    const manifest = JSON.parse(text) as Manifest
    if (manifest.ibid === 'archive' && manifest.version === 1 && Number.isFinite(manifest.upTo))
      return manifest
  } catch {
    // Told below, with its name.
  }
  throw invalidIntent(
    `${name} in the archive folder is not a manifest that can be read`,
    'move it away, or archive into another folder',
  )
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

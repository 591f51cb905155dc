/**
 * Rows into files, and the proof that the files hold them. A file gets its name only when it has been read back from
 * the disk, row by row, and is what was meant; until then it is `.partial`, and nobody's archive.
 */
import { createHash, type Hash } from 'node:crypto'
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { IbidError } from '../../core/errors.js'
import type { Format, RowWriter } from './format.js'
import { type ArchiveFile, sha256Of } from './manifest.js'
import { flush } from './ndjson.js'
import type { ArchivedReceipt } from './row.js'

export interface ArchiveWriter {
  write(row: ArchivedReceipt): Promise<void>
  finish(): Promise<readonly ArchiveFile[]>
}

interface Part {
  readonly name: string
  readonly path: string
  readonly writer: RowWriter
  readonly digest: Hash
  rows: number
}

export function createArchive(
  folder: string,
  stem: string,
  format: Format,
  rowsPerFile: number,
): ArchiveWriter {
  const files: ArchiveFile[] = []
  let part: Part | undefined

  async function begin(): Promise<Part> {
    const name = `${stem}-${String(files.length + 1).padStart(4, '0')}.${format.extension}`
    const path = join(folder, `${name}.partial`)
    return { name, path, writer: await format.create(path), digest: createHash('sha256'), rows: 0 }
  }

  async function end({ name, path, writer, digest, rows }: Part): Promise<void> {
    await writer.finish()
    await verify(format, path, name, rows, digest.digest('hex'))
    const { size: bytes } = await stat(path)
    const sha256 = await sha256Of(path)
    await rename(path, join(folder, name))
    await flush(folder)
    files.push({ name, rows, bytes, sha256 })
  }

  return {
    async write(row) {
      part ??= await begin()
      await part.writer.write(row)
      part.digest.update(lineOf(row))
      if (++part.rows < rowsPerFile) return
      await end(part)
      part = undefined
    },
    async finish() {
      if (part) await end(part)
      part = undefined
      return files
    },
  }
}

async function verify(
  format: Format,
  path: string,
  name: string,
  rows: number,
  digest: string,
): Promise<void> {
  const found = createHash('sha256')
  let count = 0
  try {
    for await (const row of format.read(path)) {
      found.update(lineOf(row))
      count++
    }
  } catch (error) {
    throw notAsWritten(
      name,
      `it cannot be read back: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  if (count !== rows) throw notAsWritten(name, `it holds ${count} receipts and not ${rows}`)
  if (found.digest('hex') !== digest) throw notAsWritten(name, 'its checksum is not that of what was written')
}

function lineOf(row: ArchivedReceipt): string {
  return `${JSON.stringify(row)}\n`
}

function notAsWritten(name: string, why: string): IbidError {
  return new IbidError(`${name} is not as it was written: ${why}; nothing was deleted`, {
    code: 'ARCHIVE_NOT_VERIFIED',
    retriable: true,
    action: 'check the disk, remove the .partial file, and run the archive again',
  })
}

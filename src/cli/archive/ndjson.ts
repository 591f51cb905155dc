/** One JSON object per line, gzipped: what every log tool, DuckDB, BigQuery, jq and zcat read as it is. */
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Format } from './format.js'
import type { ArchivedReceipt } from './row.js'

export const ndjson: Format = {
  extension: 'ndjson.gz',

  async create(path) {
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    const gzip = createGzip()
    gzip.pipe(file)
    const written = finished(file)
    written.catch(() => undefined)
    // A disk that is full fails the file, not the compressor: it has to be told, or its writer waits for ever.
    file.on('error', (error) => gzip.destroy(error))
    // Whoever writes next is told; nobody may be writing at this moment.
    gzip.on('error', () => undefined)
    return {
      async write(row) {
        if (gzip.errored) throw gzip.errored
        if (!gzip.write(`${JSON.stringify(row)}\n`)) await drained(gzip)
      },
      async finish() {
        gzip.end()
        await written
        await flush(path)
      },
    }
  },

  async *read(path) {
    const file = createReadStream(path)
    const gunzip = createGunzip()
    file.on('error', (error) => gunzip.destroy(error))
    const lines = createInterface({ input: file.pipe(gunzip), crlfDelay: Infinity })
    let failure: unknown
    gunzip.on('error', (error) => {
      failure = error
      lines.close()
    })
    for await (const line of lines) yield JSON.parse(line) as ArchivedReceipt
    if (failure !== undefined) throw failure as Error
  },
}

async function drained(stream: NodeJS.WritableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error): void => {
      stream.off('drain', done)
      stream.off('error', done)
      stream.off('close', done)
      if (error) reject(error)
      else resolve()
    }
    stream.on('drain', done)
    stream.on('error', done)
    stream.on('close', done)
  })
}

/** Out of the operating system's memory, onto the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

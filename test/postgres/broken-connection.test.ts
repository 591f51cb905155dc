/**
 * [R12] A connection that the server ends between two questions: the last words come with the answer before them, when
 * nobody is asking anything. The program goes on. A proxy in front of a real server puts them there.
 */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { draft } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'

const bench = withPostgres()
/** "Ready for query", idle: the end of every answer. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

function lastWords(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, Buffer.from(fields)])
}

/** Ends each of the first connections with its `answers`-th answer. */
async function openProxy(answers: number, connections: number): Promise<string> {
  const target = new URL(bench.server.url)
  const sockets: Socket[] = []
  let opened = 0
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const isCut = ++opened <= connections
    let left = answers
    sockets.push(client, upstream)
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (chunk.subarray(-READY.length).equals(READY) && --left === 0 && isCut) {
        client.end(Buffer.concat([chunk, lastWords()]))
        upstream.destroy()
      } else client.write(chunk)
    })
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(bench.server.url)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return url.href
}

const CASES = [1, 2, 3, 4].flatMap((answers) => [
  { answers, how: 'a URL' as const },
  { answers, how: 'a pool of pg' as const },
])

it.each(CASES)('[R12] over $how, with answer $answers: no program ends of it', async ({ answers, how }) => {
  const uncaught: unknown[] = []
  const hear = (error: unknown): void => void uncaught.push(error)
  process.on('uncaughtException', hear)
  onTestFinished(() => void process.off('uncaughtException', hear))
  const url = await openProxy(answers, 2)
  const pool = how === 'a URL' ? undefined : new Pool({ connectionString: url })
  const store = postgresStore(pool ?? url)
  for (let tried = 1; ; tried++) {
    const claimed = await store.claim([draft()]).catch((error: unknown) => error)
    if (Array.isArray(claimed)) break
    expect(claimed).toBeInstanceOf(Error)
    expect(tried).toBeLessThan(10)
  }
  await store.close()
  await pool?.end()
  expect(uncaught).toEqual([])
})

/**
 * [R12] A connection that the server ends between two questions: the last words come with the answer before them, when
 * nobody is asking anything. The program goes on. A proxy in front of a real server puts them there.
 */
import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { draft } from '../../src/testing/store/drafts.js'
import { withPostgres } from './bench.js'
import { openProxy } from './proxy.js'

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
async function endingWith(answers: number, connections: number): Promise<string> {
  return await openProxy(bench.server.url, (connection) => {
    let left = answers
    return (chunk, from) => {
      const isAnswer = from === 'server' && chunk.subarray(-READY.length).equals(READY)
      const isCut = isAnswer && --left === 0 && connection <= connections
      return isCut ? Buffer.concat([chunk, lastWords()]) : undefined
    }
  })
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
  const url = await endingWith(answers, 2)
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

/**
 * A store that is closed while it connects: nothing of it stays behind, and the program ends by itself. In a process of
 * its own, in a folder where `redis` is installed and `ioredis` is not, or where it is the other way round.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeRedisDriver } from '../../src/stores/redis/node-redis.js'
import { withRedis } from './bench.js'

const bench = withRedis()
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'ibid-closing-'))
const LIBRARIES = { redis: ['redis', '@redis'], ioredis: ['ioredis'] } as const

/** Asks and listens, and closes the store so many milliseconds later. */
const SCRIPT = `import { redisStore } from './dist/stores/redis/index.js'
  const [url, ms] = process.argv.slice(-2)
  const store = redisStore(url, { timeoutMs: 1_000 })
  store.watch(() => {})
  const asked = store.get([]).then(() => 'answered', (error) => error.code)
  await new Promise((resolve) => setTimeout(resolve, Number(ms)))
  await store.close()
  console.log(await asked)`

beforeAll(() => {
  for (const [library, packages] of Object.entries(LIBRARIES)) {
    const bare = join(folder, library)
    mkdirSync(join(bare, 'node_modules'), { recursive: true })
    cpSync(fileURLToPath(new URL('../../dist', import.meta.url)), join(bare, 'dist'), { recursive: true })
    writeFileSync(join(bare, 'package.json'), '{ "type": "module" }')
    for (const name of packages) {
      const installed = fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url))
      symlinkSync(installed, join(bare, 'node_modules', name))
    }
  }
})

afterAll(() => rmSync(folder, { recursive: true }))

/** What the program said when it had ended; one that does not end is killed, and fails. */
async function said(library: string, url: string, ms: number): Promise<string> {
  const args = ['--input-type=module', '-e', SCRIPT, '--', url, String(ms)]
  const { stdout } = await run(process.execPath, args, { cwd: join(folder, library), timeout: 10_000 })
  return stdout.trim()
}

describe.each(Object.keys(LIBRARIES))('over %s', (library) => {
  it.each([0, 5, 20, 50, 300])('[R12] closed after %i ms, the program ends', async (ms) => {
    expect(await said(library, bench.server.url, ms)).toMatch(/^(answered|CLOSED|STORE_UNAVAILABLE)$/)
  })

  it('[R12] closed while no server is there, the program ends', async () => {
    expect(await said(library, 'redis://127.0.0.1:1', 100)).toMatch(/^(CLOSED|STORE_UNAVAILABLE)$/)
  })

  it('[R12] closed while a server is there that says nothing, the program ends', async () => {
    const sockets: net.Socket[] = []
    const silent = net.createServer((socket) => sockets.push(socket.on('error', () => {}).resume()))
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as net.AddressInfo
    expect(await said(library, `redis://127.0.0.1:${port}`, 100)).toMatch(/^(CLOSED|STORE_UNAVAILABLE)$/)
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
})

it('[R12] what is sent over redis after close does not connect again', async () => {
  for (const owned of [true, false]) {
    const client = createClient({ url: bench.server.url })
    const driver = nodeRedisDriver(client, owned)
    expect(await driver.send('', 'PING', [])).toBe('PONG')
    await driver.close()
    if (!owned) client.destroy()
    await expect(driver.send('', 'PING', [])).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(driver.sendToAll('PING', [])).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(driver.subscribe('c', () => {})).rejects.toMatchObject({ code: 'CLOSED' })
    expect(client.isOpen).toBe(false)
  }
})

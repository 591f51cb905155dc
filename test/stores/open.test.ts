/** openStore: every scheme finds its store, a mistake is named, and no error repeats what stood in the URL. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IbidError } from '../../src/index.js'
import type { Store } from '../../src/store.js'
import { openStore } from '../../src/stores/open.js'

const run = promisify(execFile)
const SECRET = 'hunter2-very-secret'

/** As a promise, so that what it throws and what it gives are looked at in one way. */
async function opening(...args: Parameters<typeof openStore>): Promise<Store> {
  return openStore(...args)
}

describe('openStore', () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ibid-open-'))
  })
  afterAll(async () => await rm(directory, { recursive: true, force: true, maxRetries: 5 }))

  it('opens the store that the scheme names', async () => {
    for (const [url, name] of [
      ['memory:', 'memory'],
      [`sqlite:${directory}/a.db`, 'sqlite'],
      [`sqlite://${directory}/b.db`, 'sqlite'],
      ['postgres://user@127.0.0.1:1/database', 'postgres'],
      ['postgresql://user@127.0.0.1:1/database', 'postgres'],
      ['POSTGRES://user@127.0.0.1:1/database', 'postgres'],
      ['dynamodb://ibid?region=eu-west-1&endpoint=http://127.0.0.1:1', 'dynamodb'],
      ['dynamodb://Ibid_2.prod', 'dynamodb'],
    ] as const) {
      const store = openStore(url)
      expect(store.name, url).toBe(name)
      await store.close()
    }
  })

  it('opens a Redis store without a server that answers, and closes it', async () => {
    for (const url of ['redis://127.0.0.1:1/0', 'rediss://127.0.0.1:1/0']) {
      const store = openStore(url, { redis: { timeoutMs: 200 } })
      expect(store.name).toBe('redis')
      await store.close()
    }
  })

  it('keeps receipts where the path says, relative or absolute', async () => {
    const first = openStore(`sqlite://${directory}/same.db`)
    const event = {
      event: 'stale',
      at: 0,
      state: null,
      epoch: 1,
      attempt: 1,
      fingerprint: 'f',
      count: 1,
    } as const
    await first.record([{ tenant: 't', scope: 's', key: 'k', ...event }])
    await first.close()
    const second = openStore(`sqlite:${directory}/same.db`)
    expect((await second.audit({ limit: 10 })).events.length).toBe(1)
    await second.close()
  })

  it('gives the options on to the store that they are for', async () => {
    const refused = opening('dynamodb://ibid', { dynamodb: { maxSkewMs: -1 }, sqlite: { busyMs: 1 } })
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_INTENT',
      message: expect.stringContaining('options.maxSkewMs'),
    })
  })

  it('names what is wrong, and the schemes that there are', async () => {
    for (const [url, said] of [
      ['', 'does not start with the name of a store'],
      ['ibid.db', 'does not start with the name of a store'],
      ['mysql://host/db', 'mysql, which is no store'],
      ['constructor://x', 'constructor, which is no store'],
      ['memory:x', 'nothing behind its colon'],
      ['sqlite:', 'path'],
      ['sqlite://host/file.db', 'path'],
      ['sqlite:a.db?mode=ro', 'path'],
      ['dynamodb://', 'table'],
      ['dynamodb:table', 'table'],
      ['dynamodb://table?regoin=x', 'parameter'],
      [undefined as unknown as string, 'does not start'],
    ] as const) {
      const error = await opening(url).catch((e: unknown) => e)
      expect(error, url).toBeInstanceOf(IbidError)
      expect(error, url).toMatchObject({ code: 'INVALID_INTENT', retriable: false })
      expect((error as IbidError).message, url).toContain(said)
      expect((error as IbidError).action.length).toBeGreaterThan(10)
    }
    await expect(opening('mysql://h')).rejects.toMatchObject({
      action: /sqlite:.*postgres:.*redis:.*dynamodb:/,
    })
  })

  it('repeats no password, whatever is wrong', async () => {
    for (const url of [
      `mysql://user:${SECRET}@host/db`,
      `user:${SECRET}@host`,
      `${SECRET}:x`,
      `memory:${SECRET}`,
      `sqlite://user:${SECRET}@host/x`,
      `dynamodb://key:${SECRET}@table`,
      `dynamodb://table?secret=${SECRET}`,
      `dynamodb://table?${SECRET}=1`,
      `postgres://user:${SECRET}@host:not-a-port/db`,
      `postgres:user:${SECRET}@host`,
      `redis://user:${SECRET}@host:not-a-port/0`,
      `rediss:${SECRET}`,
    ]) {
      const error = await opening(url).then(
        async (store) => await store.close().then(() => undefined),
        (e: unknown) => e,
      )
      const told = error instanceof Error ? inspectAll(error) : ''
      expect(error, url.replace(SECRET, '…')).toBeInstanceOf(IbidError)
      expect(told).not.toContain(SECRET)
    }
  })

  it('names the package that is missing', async () => {
    const bare = join(directory, 'bare')
    await cp(new URL('../../dist', import.meta.url), join(bare, 'dist'), { recursive: true })
    await writeFile(join(bare, 'package.json'), '{ "type": "module" }')
    for (const [url, named] of [
      ['postgres://u:p@h/d', 'pg'],
      ['redis://u:p@h', 'ioredis or redis'],
      ['dynamodb://table', '@aws-sdk/client-dynamodb'],
    ] as const) {
      const script = `import { openStore } from './dist/stores/open.js'
        try { openStore(${JSON.stringify(url)}) } catch (e) { console.log(JSON.stringify(e)) }`
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: bare })
      expect(JSON.parse(stdout)).toMatchObject({ code: 'STORE_UNAVAILABLE', retriable: false })
      expect(stdout).toContain(`the package ${named},`)
      expect(stdout).toContain('npm install')
    }
  })
})

function inspectAll(error: Error): string {
  return `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`
}

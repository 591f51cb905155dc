/** TLS options reach the client as they are, with either of the two ways to say `rediss`. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RedisServer, startRedis } from '../../scripts/servers/redis.mjs'
import { redisStore } from '../../src/stores/redis/index.js'
import { put } from '../../src/testing/store/drafts.js'

const folder = mkdtempSync(join(tmpdir(), 'ibid-tls-'))
const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
let server: RedisServer
let url: string

beforeAll(async () => {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...made, '-keyout', key, '-out', certificate, ...subject], {
    stdio: 'ignore',
  })
  const port = await freePort()
  const files = { 'tls-cert-file': certificate, 'tls-key-file': key, 'tls-ca-cert-file': certificate }
  server = await startRedis({ settings: { 'tls-port': port, ...files, 'tls-auth-clients': 'no' } })
  url = `rediss://127.0.0.1:${port}`
})

afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true })
})

it('connects with the certificate that it was told to trust', async () => {
  const store = redisStore(url, { prefix: 'tls', tls: { ca: readFileSync(certificate) } })
  expect(await put(store)).toMatchObject({ state: 'pending' })
  await store.close()
})

it('refuses a server that it has no reason to trust', async () => {
  const store = redisStore(url, { prefix: 'tls', timeoutMs: 1_000 })
  await expect(store.get([])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await store.close()
})

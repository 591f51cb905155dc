/**
 * Redis servers for tests and measurements, from Debian's package: one node, one with replicas, or a cluster of
 * three masters. Each has a free port and a temporary folder, runs in the foreground, and is ended by its own id.
 * Without other settings it is set up as the store asks: nothing evicted, AOF, fsync before every answer.
 */
import { execFile } from 'node:child_process'
import net from 'node:net'
import { promisify } from 'node:util'
import { ensureDebian } from './debian.mjs'
import { freePort, removeFolder, startProcess, temporaryFolder, untilReady } from './process.mjs'

export { freePort } from './process.mjs'

const SERVER = '/usr/bin/redis-server'
const CLI = '/usr/bin/redis-cli'
const run = promisify(execFile)

const SAFE = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
  save: '',
  'repl-diskless-sync-delay': 0,
}

/** `settings` are lines of redis.conf: `{ appendfsync: 'everysec' }`. */
export async function startRedis({ settings = {} } = {}) {
  await ensureDebian(['redis-server'], [SERVER, CLI])
  const port = await freePort()
  const folder = await temporaryFolder('redis')
  const all = { ...SAFE, bind: '127.0.0.1', port, dir: folder, daemonize: 'no', ...settings }
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)])
  const replicas = []
  let server

  async function start() {
    server = startProcess(SERVER, args)
    await untilReady(server, () => ask(port, 'PING', /^\+PONG/))
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    get pid() {
      return server.pid
    },
    /** SIGKILL: nothing is written that has not been written. */
    kill: () => server.stop('SIGKILL'),
    /** From what is on disk. */
    async restart() {
      await server.stop('SIGKILL')
      await start()
    },
    /** A server that follows this one asynchronously, and has caught up when this resolves. */
    async replica(extra = {}) {
      const other = await startRedis({ settings: { ...settings, replicaof: `127.0.0.1 ${port}`, ...extra } })
      replicas.push(other)
      await untilReady(server, () => ask(other.port, 'INFO replication', /master_link_status:up/))
      return other
    },
    cli: (...words) => cli(port, ...words),
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()))
      await server.stop('SIGKILL')
      await removeFolder(folder)
    },
  }
}

/** Three masters without replicas, all slots covered. */
export async function startRedisCluster({ settings = {} } = {}) {
  const nodes = []
  for (let i = 0; i < 3; i++) nodes.push(await startNode(settings))
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  await run(CLI, ['--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes'])
  await Promise.all(
    nodes.map(({ port }) =>
      untilReady({ gone: false, output: () => '' }, () => ask(port, 'CLUSTER INFO', /cluster_state:ok/)),
    ),
  )
  return {
    nodes,
    /** One node is enough to find the others. */
    url: nodes[0].url,
    stop: () => Promise.all(nodes.map((node) => node.stop())),
  }
}

/** The bus of a node is at another port; the usual one, ten thousand up, may not exist or be taken. */
async function startNode(settings) {
  const cluster = {
    'cluster-enabled': 'yes',
    'cluster-node-timeout': 2_000,
    'cluster-port': await freePort(),
  }
  return startRedis({ settings: { ...cluster, 'cluster-config-file': 'nodes.conf', ...settings } })
}

async function cli(port, ...words) {
  const { stdout } = await run(CLI, ['-p', String(port), ...words.map(String)])
  return stdout.trim()
}

/** One inline command over a bare socket, so that the script needs no client library. */
function ask(port, command, expected) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    let answer = ''
    socket.setEncoding('utf8').setTimeout(2_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (text) => {
      answer += text
      if (expected.test(answer)) socket.end()
      else if (/^[+-].*\r\n$/.test(answer) || answer.endsWith('\r\n\r\n')) socket.destroy(new Error(answer))
    })
    socket.once('error', reject)
    socket.once('close', () => (expected.test(answer) ? resolve(answer) : reject(new Error(answer))))
  })
}

/**
 * A RabbitMQ node for tests and measurements, from Debian's package: on free ports, in a temporary folder, under a name
 * of its own, with its own port mapper (epmd) on a free port, so that nodes never meet. Both are ended by their ids.
 */
import { writeFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { ensureDebian } from './debian.mjs'
import { freePort, removeFolder, startProcess, temporaryFolder, untilReady } from './process.mjs'

const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server'
const EPMD = '/usr/bin/epmd'

/** `settings`: lines of rabbitmq.conf; `channelTickMs`: how often a channel looks for deliveries that took too long. */
export async function startRabbitmq({ settings = {}, channelTickMs = 60_000 } = {}) {
  await ensureDebian(['rabbitmq-server'], [SERVER, EPMD])
  const folder = await temporaryFolder('rabbitmq')
  const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()]
  const conf = { 'listeners.tcp.1': `127.0.0.1:${port}`, 'log.console.level': 'warning', ...settings }
  const lines = Object.entries(conf).map(([name, value]) => `${name} = ${value}\n`)
  await writeFile(path.join(folder, 'rabbitmq.conf'), lines.join(''))
  await writeFile(
    path.join(folder, 'advanced.config'),
    `[{rabbit, [{channel_tick_interval, ${channelTickMs}}]}].\n`,
  )
  await writeFile(path.join(folder, 'plugins'), '[].\n')
  const env = {
    ...process.env,
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    // Replaces the shell by the node, so that there is one process to end.
    RUNNING_UNDER_SYSTEMD: 'true',
    RABBITMQ_NODENAME: `ibid-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: '-',
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: path.join(folder, 'rabbitmq'),
    RABBITMQ_ADVANCED_CONFIG_FILE: path.join(folder, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, 'plugins'),
  }
  const epmd = startProcess(EPMD, ['-port', String(epmdPort), '-address', '127.0.0.1'])
  await untilReady(epmd, () => connected(epmdPort))
  const server = startProcess(SERVER, [], { env, cwd: folder })

  async function stop() {
    await server.stop('SIGKILL')
    await epmd.stop('SIGKILL')
    await removeFolder(folder)
  }

  try {
    await untilReady(server, () => greeted(port), 60_000)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    port,
    pid: server.pid,
    stop,
  }
}

function connected(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.end())
    socket.once('error', reject)
    socket.once('close', resolve)
  })
}

/** A node that is up answers the protocol's header; one that is starting refuses, or closes. */
function greeted(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write('AMQP\u0000\u0000\u0009\u0001', 'latin1'),
    )
    socket.setTimeout(2_000, () => socket.destroy(new Error('no greeting')))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('no greeting')))
    socket.once('data', (bytes) => {
      socket.destroy()
      if (bytes.length > 8) resolve()
    })
  })
}

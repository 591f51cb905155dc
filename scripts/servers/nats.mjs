/**
 * A NATS server with JetStream for tests and measurements, from Debian's package: on a free port, in a temporary
 * folder, in the foreground, ended by its own id. It can be killed and started again on what is on disk.
 */
import net from 'node:net'
import { ensureDebian } from './debian.mjs'
import { freePort, removeFolder, startProcess, temporaryFolder, untilReady } from './process.mjs'

const SERVER = '/usr/sbin/nats-server'

export async function startNats() {
  await ensureDebian(['nats-server'], [SERVER])
  const port = await freePort()
  const folder = await temporaryFolder('nats')
  const args = ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder]
  let server

  async function start() {
    server = startProcess(SERVER, args)
    await untilReady(server, () => greeted(port))
  }

  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid
    },
    async restart() {
      await server.stop('SIGKILL')
      await start()
    },
    async stop() {
      await server.stop('SIGKILL')
      await removeFolder(folder)
    },
  }
}

/** The server speaks first. JetStream is up once it says so there. */
function greeted(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1')
    let said = ''
    socket.setEncoding('utf8').setTimeout(2_000, () => socket.destroy(new Error('no greeting')))
    socket.on('data', (text) => {
      said += text
      if (said.includes('\r\n')) socket.end()
    })
    socket.once('error', reject)
    socket.once('close', () => (/"jetstream":true/.test(said) ? resolve() : reject(new Error(said))))
  })
}

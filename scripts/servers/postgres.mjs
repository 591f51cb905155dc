/**
 * Postgres for tests and benchmarks: Debian's server, as user postgres, on a free port, in a folder of its own.
 * It can be killed the hard way and started again on the same port, and it can have a standby that streams from it.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { appendFile, chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ensureDebian } from './debian.mjs'
import { freePort, removeFolder, startProcess, temporaryFolder, untilReady } from './process.mjs'

const run = promisify(execFile)
const VERSIONS = '/usr/lib/postgresql'

/** The newest one that is installed; installed first where there is none. */
async function binaries() {
  if (!newest())
    await ensureDebian(['postgresql'], [`${VERSIONS}/none-yet`]).catch((error) => {
      if (!newest()) throw error
    })
  return newest()
}

function newest() {
  if (!existsSync(VERSIONS)) return undefined
  const versions = readdirSync(VERSIONS).filter((name) => existsSync(`${VERSIONS}/${name}/bin/postgres`))
  const best = versions.sort((a, b) => Number(b) - Number(a))[0]
  return best && `${VERSIONS}/${best}/bin`
}

/** initdb and postgres refuse to run as root. */
function owner() {
  if (process.getuid() !== 0) return undefined
  return { uid: idOf('-u'), gid: idOf('-g') }
}

function idOf(flag) {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

/**
 * `settings`: lines of postgresql.conf, by name. Trust authentication on 127.0.0.1 only, so the URL's password is
 * there for tests that look for it in messages.
 */
export async function startPostgres({ settings = {}, password = 'secret' } = {}) {
  const bin = await binaries()
  const user = owner()
  const folder = await temporaryFolder('postgres')
  const data = path.join(folder, 'data')
  await chmod(folder, 0o755)
  if (user) await chown(folder, user.uid, user.gid)
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
  await run(`${bin}/initdb`, initdb, { ...user, cwd: folder })
  const port = await freePort()
  await configure(data, {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: 200,
    max_wal_senders: 8,
    ...settings,
  })
  return await serve({ bin, user, folder, data, port, password })
}

async function configure(data, settings) {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  await appendFile(path.join(data, 'postgresql.conf'), lines.join(''))
}

async function serve({ bin, user, folder, data, port, password }) {
  const options = { ...user, cwd: folder }
  let server
  let stopped = false

  async function start() {
    server = startProcess(`${bin}/postgres`, ['-D', data, '-p', String(port)], options)
    await untilReady(server, () => run(`${bin}/pg_isready`, ['-h', '127.0.0.1', '-p', String(port), '-q']))
  }

  /** The postmaster's children notice its death by themselves; until the last is gone, no new one can start. */
  async function kill() {
    const pid = server.pid
    const family = childrenOf(pid)
    await server.stop('SIGKILL')
    await untilGone(family)
    return pid
  }

  const handle = {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    folder,
    data,
    bin,
    get pid() {
      return server.pid
    },
    /** SIGKILL for the whole server, at once: what it had not flushed to the operating system is lost. */
    kill,
    /** After a kill or a stop, with the same data on the same port. */
    start,
    async restart() {
      if (!server.gone) await server.stop('SIGINT')
      await start()
    },
    /** Stops everything in it without a word, as a hanging server would, until `resume`. */
    suspend: () => signalAll(server.pid, 'SIGSTOP'),
    resume: () => signalAll(server.pid, 'SIGCONT'),
    /** Adds settings and makes the server read them again; those that need a restart get one. */
    async set(settings, { restart = false } = {}) {
      await configure(data, settings)
      if (restart) await handle.restart()
      else process.kill(server.pid, 'SIGHUP')
    },
    output: () => server.output(),
    async stop() {
      if (stopped) return
      stopped = true
      if (!server.gone) await server.stop('SIGQUIT')
      await removeFolder(folder)
    },
    /** A streaming replica, made by pg_basebackup. `promote` makes it the primary. */
    startStandby: (options) => startStandby(handle, user, password, options),
  }
  await start()
  return handle
}

async function startStandby(primary, user, password, { name = 'standby1', settings = {} } = {}) {
  const folder = await temporaryFolder('postgres-standby')
  const data = path.join(folder, 'data')
  await chmod(folder, 0o755)
  await mkdir(data, { mode: 0o700 })
  if (user) {
    await chown(folder, user.uid, user.gid)
    await chown(data, user.uid, user.gid)
  }
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
  const args = [...from, '-D', data, '-X', 'stream', '-c', 'fast', '--no-sync']
  await run(`${primary.bin}/pg_basebackup`, args, { ...user, cwd: folder })
  await writeFile(path.join(data, 'standby.signal'), '')
  const port = await freePort()
  const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`
  await configure(data, { unix_socket_directories: folder, primary_conninfo: source, ...settings })
  const standby = await serve({ bin: primary.bin, user, folder, data, port, password })
  return {
    ...standby,
    get pid() {
      return standby.pid
    },
    async promote() {
      await run(`${primary.bin}/pg_ctl`, ['promote', '-D', data, '-w', '-t', '30'], { ...user, cwd: folder })
    },
  }
}

function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid)
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

async function untilGone(pids, withinMs = 20_000) {
  const stop = Date.now() + withinMs
  for (;;) {
    const left = pids.filter((pid) => existsSync(`/proc/${pid}`))
    if (left.length === 0) return
    if (Date.now() > stop) throw new Error(`processes ${left.join(', ')} of a killed server are still there`)
    await sleep(10)
  }
}

function signalAll(pid, signal) {
  for (const one of [pid, ...childrenOf(pid)]) process.kill(one, signal)
}

/**
 * Debian packages that the tests need and the machine lacks, installed once. The services that a package
 * would start by itself are kept from starting: the tests start their own, on free ports, in temporary
 * folders. Test files run side by side, and apt does not: one at a time installs, and the others wait and
 * look again.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const POLICY = '/usr/sbin/policy-rc.d'
const LOCK = join(tmpdir(), 'ibid-debian.lock')

/** Installs `packages` unless every one of `files` is there. */
export async function ensureDebian(packages, files) {
  const isThere = () => files.every((file) => existsSync(file))
  if (isThere()) return
  await lock()
  try {
    if (!isThere()) await install(packages, files)
  } finally {
    await rm(LOCK, { force: true })
  }
}

/** A file with the process id of its owner: whoever died holding it holds it no longer. */
async function lock() {
  for (;;) {
    try {
      return await writeFile(LOCK, String(process.pid), { flag: 'wx' })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const owner = Number(await readFile(LOCK, 'utf8').catch(() => 0))
      if (owner > 0 && !isAlive(owner)) await rm(LOCK, { force: true })
      await sleep(200)
    }
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function install(packages, files) {
  // Not on standard output: that is what the program that needs them has to say.
  console.error(`installing ${packages.join(' ')} from Debian's packages`)
  const hadPolicy = existsSync(POLICY)
  if (!hadPolicy) {
    await writeFile(POLICY, '#!/bin/sh\nexit 101\n')
    await chmod(POLICY, 0o755)
  }
  await mkdir('/etc/postgresql-common', { recursive: true })
  const cluster = '/etc/postgresql-common/createcluster.conf'
  if (!existsSync(cluster)) await writeFile(cluster, 'create_main_cluster = false\n')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = { env, maxBuffer: 64 * 1024 * 1024 }
  try {
    await run('apt-get', ['update', '-qq'], options)
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options)
  } catch (error) {
    throw new Error(
      `could not install ${packages.join(' ')}: run as root on Debian, or install them by hand\n${error.stderr}`,
      { cause: error },
    )
  } finally {
    if (!hadPolicy) await rm(POLICY, { force: true })
  }
  const missing = files.filter((file) => !existsSync(file))
  if (missing.length > 0) throw new Error(`${packages.join(' ')} did not bring ${missing.join(', ')}`)
}

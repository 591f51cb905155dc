/**
 * Debian packages that the tests need and the machine lacks, installed once. The services that a package would
 * start by itself are kept from starting: the tests start their own, on free ports, in temporary folders.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const POLICY = '/usr/sbin/policy-rc.d'

/** Installs `packages` unless every one of `files` is there. */
export async function ensureDebian(packages, files) {
  if (files.every((file) => existsSync(file))) return
  console.log(`installing ${packages.join(' ')} from Debian's packages`)
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

/** What the table was made with: versions that a reader needs to make it again. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { root } from './work.mjs'

export function versions() {
  const { version, devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  return {
    ibid: version,
    Node: process.versions.node,
    vitest: devDependencies.vitest,
    Postgres: said('sh', '-c', 'ls /usr/lib/postgresql | sort -n | tail -1'),
    Redis: /v=([\d.]+)/.exec(said('redis-server', '--version'))?.[1] ?? 'not installed',
    Spin: /Version ([\d.]+)/.exec(said('spin', '-V'))?.[1] ?? 'not installed',
    [os.type()]: `${os.release()}, ${os.cpus().length} cores`,
  }
}

function said(command, ...args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return 'not installed'
  }
}

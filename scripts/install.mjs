/**
 * Makes a fresh clone ready: runs `npm ci` when what is installed is not what package-lock.json says.
 * Only Node's own modules are used here, since nothing else may be there yet.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export const root = new URL('..', import.meta.url)

/** False when the installation failed; npm has then said why. */
export function ensureInstalled() {
  const reason = whyStale()
  if (reason === undefined) return true
  console.log(`installing the dependencies, since ${reason} (npm ci)`)
  // npm's own log level is set, so that a caller's --silent does not hide a failure.
  const { status, error } = npm(['ci', '--no-audit', '--no-fund', '--loglevel=warn'])
  if (error) console.error(error.message)
  if (status !== 0) console.error('npm ci failed: nothing was built')
  return status === 0
}

function whyStale() {
  const wanted = packagesOf('package-lock.json')
  let installed
  try {
    installed = packagesOf('node_modules/.package-lock.json')
  } catch {
    return 'there is no complete node_modules'
  }
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    if (path === '' || installed[path]?.version === version) continue
    // Packages for other platforms are in the lock and never on the disk.
    if (optional && installed[path] === undefined) continue
    return `${path} is not at ${version}`
  }
  return undefined
}

function packagesOf(file) {
  return JSON.parse(readFileSync(new URL(file, root), 'utf8')).packages
}

function npm(args) {
  const cli = process.env['npm_execpath']
  return cli?.endsWith('.js')
    ? spawnSync(process.execPath, [cli, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
}

/** The packages that ibid is compared with, installed when a measurement first needs them. */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function ensurePeers(say) {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const written = (file) => statSync(`${here}${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (written('node_modules/.package-lock.json') > written('package-lock.json')) return
  say('installing the packages that ibid is compared with (npm ci in bench/peers)')
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ci in bench/peers failed:\n${stderr}`)
}

/** `npm start`: from a fresh clone to a running example. */
import { spawnSync } from 'node:child_process'
import { ensureInstalled, root } from './install.mjs'

if (!ensureInstalled()) process.exit(1)
for (const script of ['scripts/build.mjs', 'examples/sunday.mjs']) {
  const { status, signal } = spawnSync(process.execPath, [script], { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`node ${script} ended with ${signal ?? status}`)
    process.exit(status || 1)
  }
}

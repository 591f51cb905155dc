/**
 * `npm start`: from a fresh clone to a running server, with its page, on the embedded store. Flags go on to
 * `ibid serve`: npm start -- --port 8080. The story of one Sunday is `npm run sunday`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureInstalled, root as place } from './install.mjs'

const root = fileURLToPath(place)

if (!ensureInstalled()) process.exit(1)
const { status, signal } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
if (status !== 0) {
  console.error(`node scripts/build.mjs ended with ${signal ?? status}`)
  process.exit(status || 1)
}

// A larger nursery: whatever a batch of claims makes is gone again before it would grow old.
const node = ['--max-semi-space-size=64', join(root, 'dist/cli/main.js'), 'serve']
const server = spawn(process.execPath, [...node, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, IBID_STORE: process.env.IBID_STORE ?? `sqlite:${join(root, 'ibid.db')}` },
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal))
server.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))

/**
 * Builds dist/ with plain tsc and dist/dashboard, the page, with vite; then removes what no source file
 * stands for any more. dist/ is never emptied first: programs that are running from it keep running.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')

function run(...command) {
  return spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status ?? 1
}

const status = run(tsc, '-p', 'tsconfig.build.json') || run(vite, 'build', 'dashboard', '--logLevel', 'warn')
if (existsSync(join(root, 'dist'))) {
  for (const file of readdirSync(join(root, 'dist'), { recursive: true })) {
    // The page has a build of its own.
    if (file.startsWith('dashboard')) continue
    const stem = file.replace(/(\.d\.ts|\.js)$/, '')
    if (stem !== file && !existsSync(join(root, 'src', `${stem}.ts`))) rmSync(join(root, 'dist', file))
  }
}
process.exit(status)

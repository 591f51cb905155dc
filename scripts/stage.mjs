/**
 * One stage of `npm test`: a command, its name, and how long it took. A quiet one shows its output only when
 * it fails, and then all of it; a shown one writes straight to the terminal.
 */
import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './install.mjs'

const BIN = fileURLToPath(new URL('node_modules/.bin', root))

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

export async function runQuiet(name, command) {
  process.stdout.write(`${name.padEnd(10)} … `)
  const { ok, ms, output } = await run(command, 'pipe', {})
  console.log(`${ok ? 'ok' : 'FAILED'} (${seconds(ms)})`)
  if (!ok) console.log(`$ ${command.join(' ')}\n${output.trimEnd()}\n`)
  return { name, ok, ms }
}

export async function runShown(name, command, env) {
  console.log(`${name} …`)
  const { ok, ms } = await run(command, 'inherit', env)
  return { name, ok, ms }
}

function run([program, ...args], output, env) {
  const started = performance.now()
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env, PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', output, output],
    shell: process.platform === 'win32',
  })
  const chunks = []
  child.stdout?.on('data', (chunk) => chunks.push(chunk))
  child.stderr?.on('data', (chunk) => chunks.push(chunk))
  return new Promise((resolve) => {
    const end = (ok) =>
      resolve({ ok, ms: performance.now() - started, output: Buffer.concat(chunks).toString() })
    child.on('error', (error) => {
      chunks.push(Buffer.from(String(error)))
      end(false)
    })
    child.on('close', (code) => end(code === 0))
  })
}

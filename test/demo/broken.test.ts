/**
 * The demo on a copy of the compiled package in which one guard was made useless: it has to find duplicates where there
 * must be none, say so, and end with another code than 0. Otherwise a clean table would mean nothing.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folder, run } from '../cli/command.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

function brokenCopy(file: string, sound: string, broken: string): string {
  const home = folder()
  cpSync(join(root, 'dist'), join(home, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(home, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
  const path = join(home, 'dist', file)
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(sound)
  writeFileSync(path, text.replace(sound, broken))
  return join(home, 'dist', 'cli', 'main.js')
}

test(
  'a tool whose every call is a new one: the table says so, and the exit code',
  { timeout: 240_000 },
  async () => {
    const main = brokenCopy('cli/demo/agent.js', "stepId: 'refund'", 'stepId: randomUUID()')
    const args = [main, 'demo', '--seed', '6', '--guarded']
    const { code, stdout, stderr } = await run(process.execPath, args, {
      env: { TMPDIR: folder(), NO_COLOR: '1' },
    })
    expect(stderr).toBe('')
    const line = /^duplicate refunds +(\d+) \(/m.exec(stdout)
    expect(Number(line?.[1]), stdout).toBeGreaterThan(0)
    expect(stdout).toContain('which must not be')
    expect(code).toBe(3)
  },
)

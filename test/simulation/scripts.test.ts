/** The scripts behind the figures: one line of JSON that a table can print, and a seed that can be run again. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { replaySeed } from '../../src/testing/index.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

async function script(name: string, ...given: string[]): Promise<{ code: number; stdout: string }> {
  const args = [`scripts/${name}.mjs`, ...given]
  return await run(process.execPath, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string; stderr: string }) => {
      if (typeof error.code !== 'number') throw error
      return { code: error.code, stdout: error.stdout + error.stderr }
    },
  )
}

test('simulate.mjs --json: what ran, what broke, and that what was planted was found', async () => {
  const { code, stdout } = await script('simulate', '--operations', '3000', '--workers', '2', '--json')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  const { ran, control, violations, durationMs } = JSON.parse(stdout)
  expect(ran.operations).toBeGreaterThanOrEqual(3_000)
  expect(ran.faults).toBeGreaterThan(300)
  expect([violations, control.caught, code]).toEqual([0, control.planted, 0])
  expect(control.planted).toBeGreaterThanOrEqual(9)
  expect(durationMs).toBeGreaterThan(0)
}, 120_000)

test('simulate.mjs --replay: another process tells the same story of a seed', async () => {
  const { code, stdout } = await script('simulate', '--replay', '7')
  const { digest, trace } = await replaySeed(7)
  expect(code).toBe(0)
  expect(stdout.trimEnd().split('\n')).toEqual([
    ...trace,
    `seed 7 breaks no promise; digest of its trace: ${digest}`,
  ])
})

test('simulate.mjs --replay --plant: a broken promise is told, and the exit code says so', async () => {
  const plant = 'a claim that overwrites a running one'
  const { code, stdout } = await script('simulate', '--replay', '1', '--plant', plant)
  expect(code).toBe(1)
  expect(stdout).toMatch(/^seed 1 breaks a promise: /)
  expect(stdout).toMatch(/steps are enough:/)
})

test('linearizability.mjs --json: what was recorded, and that the planted race was seen', async () => {
  const { code, stdout } = await script('linearizability', '--stores', 'sqlite', '--rounds', '2', '--json')
  const { ran, violations, control } = JSON.parse(stdout)
  expect(ran).toMatchObject({ store: 'sqlite', histories: 6, processes: 4 })
  expect([violations, control, code]).toEqual([0, { planted: 1, caught: 1 }, 0])
}, 120_000)

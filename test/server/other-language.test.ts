/** A client that shares nothing with this project but the documented API: Python with its standard library. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { tally } from '../../src/testing/tally.js'
import { openHouse, type Served } from './bench.js'

const PROGRAM = fileURLToPath(new URL('../../examples/claim.py', import.meta.url))
const run = promisify(execFile)

function worker(served: Served, file: string, more: Record<string, string> = {}) {
  const env = {
    ...process.env,
    IBID_URL: served.url,
    IBID_KEY: served.key,
    IBID_TENANT: 'acme',
    IBID_LEASE: '2s',
    ...more,
  }
  return {
    finish: async (order: string) => {
      tally({ processes: 1 })
      const { stdout } = await run('python3', [PROGRAM, order, file], { env })
      return JSON.parse(stdout) as { replayed: boolean; value: { refund: string } }
    },
    async dieAtPause(order: string) {
      tally({ processes: 1, kills: 1 })
      const child = spawn('python3', [PROGRAM, order, file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

test('[R7] [R60] [R61] a Python worker killed before or after its effect is taken over: one effect', async () => {
  const house = openHouse()
  const served = await house.serve()
  const file = join(house.folder, 'refunds.txt')

  const first = await worker(served, file).finish('order-1')
  expect(first.replayed).toBe(false)
  expect(await worker(served, file).finish('order-1')).toEqual({ replayed: true, value: first.value })

  await worker(served, file, { IBID_PAUSE_AT: 'claimed' }).dieAtPause('order-2')
  expect(linesOf(file)).toHaveLength(1)
  expect((await worker(served, file).finish('order-2')).replayed).toBe(false)

  await worker(served, file, { IBID_PAUSE_AT: 'done' }).dieAtPause('order-3')
  const left = JSON.parse(linesOf(file)[2] ?? '') as { refund: string }
  const taken = await worker(served, file).finish('order-3')
  expect(taken).toEqual({ replayed: false, value: left })

  expect(linesOf(file)).toHaveLength(3)
})

test('[R60] eight Python workers and one order: one effect, one answer', async () => {
  const house = openHouse()
  const served = await house.serve()
  const file = join(house.folder, 'refunds.txt')
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => worker(served, file, { IBID_LEASE: '30s' }).finish('order-9')),
  )
  expect(answers.filter((one) => !one.replayed)).toHaveLength(1)
  expect(new Set(answers.map((one) => one.value.refund)).size).toBe(1)
  expect(linesOf(file)).toHaveLength(1)
})

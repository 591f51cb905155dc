/**
 * The model of the protocol, verified in its small size: no reachable state breaks a promise, and the same properties
 * find every planted fault. `node scripts/model.mjs --full` does the large one.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { read } from '../../scripts/model/spin.mjs'

interface Verified {
  readonly states: number
  readonly sound: boolean
  readonly runs: readonly { readonly name: string; readonly states: number; readonly complete: boolean }[]
  readonly faults: readonly { readonly name: string; readonly caught: boolean }[]
  readonly limits: readonly { readonly name: string; readonly open: boolean; readonly closed: boolean }[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
let verified: Verified

beforeAll(async () => {
  const args = ['scripts/model.mjs', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  verified = JSON.parse(stdout) as Verified
}, 900_000)

describe('the model of the protocol', () => {
  it.each(['hold', 'retry', 'check', 'check, a downstream that fences'])(
    '[R7, R8, R61] %s: every reachable state keeps the promises',
    (policy) => {
      const runs = verified.runs.filter(({ name }) => name === policy)
      expect(runs.map(({ complete }) => complete)).toEqual([true, true])
      // Far fewer would mean that something can no longer happen in the model.
      for (const { states } of runs) expect(states).toBeGreaterThan(10_000)
    },
  )

  it('finds every planted fault', () => {
    expect(verified.faults.filter(({ caught }) => !caught)).toEqual([])
    expect(verified.faults.length).toBeGreaterThanOrEqual(6)
  })

  it('shows the known limits, and what would close them', () => {
    expect(verified.limits.filter(({ open, closed }) => !open || !closed)).toEqual([])
    expect(verified.sound).toBe(true)
  })
})

describe('what the verifier says', () => {
  const SOUND = `State-vector 176 byte, depth reached 170, errors: 0
   46310 states, stored
  129.5	total actual memory usage`

  it('is complete only when it found nothing and looked everywhere', () => {
    expect(read(SOUND)).toMatchObject({ states: 46_310, depth: 170, errors: 0, complete: true })
    expect(read(`error: max search depth too small\n${SOUND}`).complete).toBe(false)
    expect(read(`pan: reached -DMEMLIM bound\npan: out of memory\n${SOUND}`).complete).toBe(false)
    expect(read('it did not start').complete).toBe(false)
  })

  it('names the promise that was broken', () => {
    const broken = `pan:1: assertion violated (t==owner) (at depth 82)\n${SOUND.replace('errors: 0', 'errors: 1')}`
    expect(read(broken)).toMatchObject({ violation: '(t==owner)', complete: false })
  })
})

/**
 * SQLite on a disk whose writes fail: each n-th system call that writes or syncs, or all of them from some point on, as
 * when the disk is full. Afterwards, on a sound disk: what was acknowledged is there, no effect happened twice, and no
 * effect is without a receipt. SQLite's own check finds the file whole.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runNode } from './work.mjs'

const run = promisify(execFile)
const SOURCE = fileURLToPath(new URL('failing-calls.c', import.meta.url))
const WORKER = fileURLToPath(new URL('syscalls-worker.mjs', import.meta.url))

export const syscalls = {
  id: 'syscalls',
  property: 'A disk that is full, or fails each n-th call, loses and repeats nothing',
  async run({ quick, progress }) {
    const { ensureDebian } = await import('../servers/debian.mjs')
    await ensureDebian(['gcc', 'libc6-dev'], ['/usr/bin/gcc'])
    const folder = await mkdtemp(path.join(tmpdir(), 'ibid-syscalls-'))
    const shim = path.join(folder, 'failing.so')
    const counts = quick
      ? [7, 50]
      : [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 17, 23, 29, 37, 50, 75, 100, 150, 250, 500]
    const sum = { runs: 0, failures: 0, calls: 0, acknowledged: 0 }
    const found = []
    try {
      await run('gcc', ['-shared', '-fPIC', '-O1', '-w', '-o', shim, SOURCE, '-ldl'])
      for (const how of ['EVERY', 'AFTER']) {
        for (const number of counts) {
          progress(`${how === 'EVERY' ? 'each' : 'from the'} ${number}th call fails`)
          const one = await tryDisk(folder, shim, how, number, quick ? 60 : 200)
          for (const name of Object.keys(sum)) sum[name] += one[name]
          found.push(...one.violations.map((what) => `${how} ${number}: ${what}`))
        }
      }
      const control = await tryDisk(folder, shim, 'EVERY', 25, 100, 'faulty')
      return {
        ran: {
          runs: sum.runs,
          'failed system calls': sum.failures,
          calls: sum.calls,
          acknowledged: sum.acknowledged,
        },
        tried: sum.calls,
        violations: found.length,
        control: { planted: 1, caught: control.violations.length > 0 ? 1 : 0 },
        note: sum.failures === 0 ? 'NO CALL FAILED' : undefined,
        details: found.slice(0, 20),
        ...(sum.failures === 0 ? { error: 'no system call was made to fail' } : {}),
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function tryDisk(parent, shim, how, number, calls, faulty) {
  const folder = await mkdtemp(path.join(parent, 'disk-'))
  const count = path.join(folder, 'failures')
  await prepare(folder)
  const env = {
    LD_PRELOAD: shim,
    IBID_FAIL_PATH: path.join(folder, 'ibid.db'),
    IBID_FAIL_COUNT: count,
    [`IBID_FAIL_${how}`]: String(number),
  }
  const { code, stderr } = await runNode([WORKER, folder, String(calls), ...(faulty ? [faulty] : [])], {
    env,
  })
  const told = lines(path.join(folder, 'told.jsonl')).map((line) => JSON.parse(line))
  const effects = lines(path.join(folder, 'effects.txt'))
  const violations = await judge(folder, told, effects)
  const asked = new Set(told.map(({ key }) => key)).size
  if (code !== 0 || asked < calls) {
    const said = stderr.trim().slice(-200).replaceAll(/\s+/g, ' ')
    const what = `the program ended with ${code} after ${asked} of ${calls} calls: ${said}`
    // Of the control that would say nothing: it is there for what the books find.
    if (faulty) throw new Error(what)
    violations.push(what)
  }
  return {
    runs: 1,
    failures: existsSync(count) ? statSync(count).size : 0,
    calls: told.length,
    acknowledged: told.filter(({ how: answer }) => answer === 'ok').length,
    violations,
  }
}

/** The tables are made on a sound disk: what is tried are claims and settlements, not the first opening. */
async function prepare(folder) {
  const { sqliteStore } = await import('../../dist/stores/sqlite/index.js')
  const store = sqliteStore(path.join(folder, 'ibid.db'))
  await store.get([])
  await store.close()
}

const lines = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])

/** On a sound disk again. */
async function judge(folder, told, effects) {
  const { sqliteStore } = await import('../../dist/stores/sqlite/index.js')
  const store = sqliteStore(path.join(folder, 'ibid.db'))
  const found = []
  const counted = new Map()
  for (const key of effects) counted.set(key, (counted.get(key) ?? 0) + 1)
  try {
    for (const key of new Set([...told.map((one) => one.key), ...effects])) {
      const { receipts } = await store.get([{ tenant: 'acme', scope: 'disk', key }])
      const state = receipts[0]?.state ?? 'absent'
      const isAcknowledged = told.some((one) => one.key === key && one.how === 'ok')
      const times = counted.get(key) ?? 0
      if (times > 1) found.push(`${key} happened ${times} times`)
      if (isAcknowledged && state !== 'succeeded') found.push(`${key} was acknowledged, and is ${state}`)
      if (isAcknowledged && times === 0) found.push(`${key} was acknowledged, and never happened`)
      if (times > 0 && (state === 'absent' || state === 'released'))
        found.push(`${key} happened, and is ${state}`)
    }
    const { findings } = await store.check()
    found.push(...findings.filter(({ level }) => level === 'error').map(({ code }) => `check says ${code}`))
  } finally {
    await store.close()
  }
  return found
}

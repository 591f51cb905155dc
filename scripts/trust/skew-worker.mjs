/**
 * One of two workers: the holder starts an effect for every key and keeps it running until the other one, whose clock
 * is wrong, has called for each of them. They wait for each other by files, so nothing depends on who is faster. The
 * other one has to be told that the holder is at it, and the holder has to keep what it holds; a lease that has ended
 * is written down by whoever finds out.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const { worker, kind, url, folder, keys, skewMs } = JSON.parse(process.argv[2])
const trueNow = Date.now
Date.now = () => trueNow() + skewMs

const { createIbid } = await import('../../dist/index.js')
const { openStore } = await import('../../dist/stores/open.js')
const { sqliteStore } = await import('../../dist/stores/sqlite/index.js')

/** `own`: the planted fault, a store that takes the time from whoever asks. */
function open() {
  if (kind === 'server') return openStore(url)
  const clockOffset = new Float64Array(new SharedArrayBuffer(8))
  clockOffset[0] = skewMs
  return sqliteStore(url, { clockOffset })
}

const ibid = createIbid({ store: open(), tenant: 'acme', housekeeping: false })
const file = (name) => path.join(folder, name)
const until = async (name) => {
  while (!existsSync(file(name))) await sleep(10)
}
const policy = { lease: '60s', wait: 0, recovery: 'retry' }
const scope = `skew ${folder}`
const call = (at, effect) => ibid.once({ scope, key: `key ${at}`, payload: at }, effect, policy)
const happen = (at) => appendFileSync(file('effects.txt'), `key ${at}\n`)
const end = (at, code) => appendFileSync(file('ended.txt'), `key ${at}, ${code}\n`)
const told = (at, effect) =>
  call(at, effect).then(
    () => 'done',
    ({ code, message }) => code ?? message,
  )

if (worker === 'holder') {
  let started = 0
  const calls = Array.from({ length: keys }, (_, at) =>
    told(at, async () => {
      happen(at)
      if (++started === keys) writeFileSync(file('held'), '')
      await until('asked')
    }),
  )
  for (const [at, how] of (await Promise.all(calls)).entries()) {
    if (how === 'LEASE_LOST') end(at, how)
    else if (how !== 'done') throw new Error(`the holder of key ${at} was told ${how}`)
  }
} else {
  await until('held')
  const answers = []
  for (let at = 0; at < keys; at++) answers.push(await told(at, () => happen(at)))
  writeFileSync(file('asked'), '')
  for (const [at, how] of answers.entries()) {
    if (how === 'done' || how === 'OUTCOME_UNKNOWN') end(at, how)
    else if (how !== 'RETRY_IN_FLIGHT') throw new Error(`the other caller of key ${at} was told ${how}`)
  }
}
process.exit(0)

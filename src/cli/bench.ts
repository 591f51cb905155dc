/**
 * `ibid bench`: in a checkout, the whole comparison (ours, peers, the raw limit). With --store, a short measurement
 * of that store from this machine: claims and settlings with random keys, then duplicates of them.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { invalidIntent } from '../core/errors.js'
import { createIbid, type Ibid } from '../index.js'
import { EXIT } from './exit-codes.js'
import { print } from './print.js'
import { startProgress } from './progress.js'
import { openExisting, type StoreOptions } from './store-option.js'
import { facts } from './table.js'
import { count } from './times.js'
import { durationMs, wholeNumber } from './values.js'

interface Options extends StoreOptions {
  readonly duration: number
  readonly callers: number
  readonly quick?: true
  readonly only?: string
}

export interface Measured {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly calls: number
}

const SCOPE = 'ibid:bench'
const WINDOW = '1m'

export function benchCommand(): Command {
  return new Command('bench')
    .description('measure a store from here; in a checkout without --store, run the whole comparison')
    .option('--store <url>', 'the store to measure: it is written to, under a tenant of its own')
    .option('--duration <duration>', 'how long each part takes', durationMs('--duration'), 3_000)
    .option(
      '--callers <count>',
      'how many calls are under way at once',
      wholeNumber('--callers', 1, 10_000),
      256,
    )
    .option('--quick', 'of the comparison: rounds that are too short to quote')
    .option('--only <suites>', 'of the comparison: sqlite, postgres, redis')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      if (options.store === undefined) await compare(options)
      else await measureStore(options)
    })
}

async function compare({ quick, only, json }: Options): Promise<void> {
  const program = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url))
  if (!existsSync(program)) {
    throw invalidIntent(
      '--store is missing',
      'say which store to measure; the whole comparison runs only in a checkout of ibid',
    )
  }
  const args = [program, ...(quick ? ['--quick'] : []), ...(only === undefined ? [] : ['--only', only])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', json ? 'ignore' : 'inherit', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) process.exitCode = EXIT.failed
  else if (json) {
    const results = new URL('../../bench/results/latest.json', import.meta.url)
    process.stdout.write(readFileSync(results, 'utf8'))
  }
}

async function measureStore(options: Options): Promise<void> {
  const { store, url } = openExisting(options)
  const tenant = `ibid-bench-${randomUUID()}`
  const ibid = createIbid({ store, tenant, housekeeping: false, cache: false })
  const progress = startProgress(options.json === true)
  try {
    const keys: string[] = []
    progress.say(() => 'claims and settlings…')
    const originals = await measure(options, async () => {
      const key = randomUUID()
      await run(ibid, key)
      keys.push(key)
    })
    progress.say(() => 'duplicates…')
    let at = 0
    const duplicates = await measure(options, async () => await run(ibid, keys[at++ % keys.length] as string))
    progress.end()
    const result = { store: url, callers: options.callers, tenant, originals, duplicates }
    print(options.json, {
      json: result,
      text: () =>
        facts([
          ['claim + settle', line(originals)],
          ['duplicate', `${line(duplicates)}, none from memory`],
        ]) +
        `\n${options.callers} callers, random keys, results of 300 bytes. The receipts (tenant ${tenant}) end in a minute; housekeeping or ibid sweep forgets them.\n`,
    })
  } finally {
    progress.end()
    await ibid.close()
  }
}

const RESULT = 'x'.repeat(300)

async function run(ibid: Ibid, key: string): Promise<void> {
  const intent = { scope: SCOPE, key, payload: { key } }
  await ibid.once(intent, () => RESULT, { window: WINDOW, recovery: 'retry' })
}

async function measure({ duration, callers }: Options, call: () => Promise<void>): Promise<Measured> {
  const took: number[] = []
  const start = performance.now()
  async function caller(): Promise<void> {
    do {
      const began = performance.now()
      await call()
      took.push(performance.now() - began)
    } while (performance.now() - start < duration)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const seconds = (performance.now() - start) / 1_000
  took.sort((a, b) => a - b)
  return { perSecond: took.length / seconds, p50Ms: at(took, 0.5), p99Ms: at(took, 0.99), calls: took.length }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function line({ perSecond, p50Ms, p99Ms }: Measured): string {
  return `${count(perSecond)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
}

/**
 * `ibid archive`: settled receipts to compressed files, for audit. A receipt inside its window is what stops a
 * duplicate, so only those whose window has ended are forgotten: those that stand in the files of this very run, by
 * name, after the files have been read back and compared.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { invalidIntent } from '../core/errors.js'
import type { Receipt } from '../core/receipt.js'
import type { ReceiptClaim, Store } from '../store.js'
import type { Format } from './archive/format.js'
import { type Manifest, readManifests, writeManifest } from './archive/manifest.js'
import { ndjson } from './archive/ndjson.js'
import { loadParquet } from './archive/parquet.js'
import { toRow } from './archive/row.js'
import { createArchive } from './archive/write.js'
import { allReceipts, asked, clockOf } from './pages.js'
import { paint } from './paint.js'
import { print } from './print.js'
import { type Progress, startProgress } from './progress.js'
import { type StoreOptions, tenantOf, useStore, withStore, withTenant } from './store-option.js'
import { facts } from './table.js'
import { count, counted, duration, instant } from './times.js'
import { durationMs, wholeNumber } from './values.js'

interface Options extends StoreOptions {
  readonly to: string
  readonly olderThan: number
  readonly format: 'ndjson' | 'parquet'
  readonly outcomes: boolean
  readonly all?: true
  readonly delete?: true
  readonly rowsPerFile: number
}

interface Result extends Manifest {
  readonly manifest: string
  readonly purged: number
  /** The shortest window among the settled receipts that were seen. */
  readonly shortestWindowMs: number | null
}

const FORGET = { batch: 200, pauseMs: 5 }

export function archiveCommand(): Command {
  const command = new Command('archive')
    .description('write settled receipts to compressed files, verify them, then forget what has ended')
    .requiredOption('--to <folder>', 'where the files go; the next run into it goes on where this one ended')
    .option(
      '--older-than <duration>',
      'settled at least this long ago',
      durationMs('--older-than'),
      3_600_000,
    )
    .addOption(
      new Option('--format <format>', 'of the files').choices(['ndjson', 'parquet']).default('ndjson'),
    )
    .option('--no-outcomes', 'leave out what the effects returned')
    .option('--all', 'from the beginning, and not from where the last run ended')
    .option('--delete', 'after that, forget those of them whose window has ended')
    .option(
      '--rows-per-file <count>',
      'how many receipts a file holds',
      wholeNumber('--rows-per-file', 1, 10_000_000),
      100_000,
    )
    .action(run)
  return withTenant(withStore(command))
}

async function run(options: Options): Promise<void> {
  const tenant = tenantOf(options)
  const progress = startProgress(options.json === true)
  const result = await useStore(
    options,
    async ({ store, url }) => await archive(store, url, tenant, options, progress),
  ).finally(progress.end)
  print(options.json, { json: result, text: () => text(result, options) })
}

async function archive(
  store: Store,
  url: string,
  tenant: string | undefined,
  options: Options,
  progress: Progress,
): Promise<Result> {
  const format = options.format === 'ndjson' ? ndjson : await loadParquet()
  await makeFolder(options.to)
  const { now } = await clockOf(store)
  const last = lastEnd(await readManifests(options.to), url, tenant)
  const from = options.all ? null : last
  const upTo = Math.max(now - options.olderThan, from ?? 0)
  const stem = `receipts-${stamp(from ?? 0)}-${stamp(upTo)}-${stamp(now, true)}`
  const files = createArchive(options.to, stem, format, options.rowsPerFile)
  const ended = options.delete ? now : -Infinity
  let rows = 0
  let shortest = Infinity
  for await (const { receipt } of allReceipts(store, { tenant, states: ['succeeded', 'failed'] })) {
    shortest = Math.min(shortest, receipt.windowMs)
    if (!isDue(receipt, from ?? -Infinity, upTo, ended)) continue
    await files.write(toRow(receipt, options.outcomes))
    rows++
    progress.say(() => `archiving: ${counted(rows, 'receipt')}`)
  }
  const manifest: Manifest = {
    ...({ ibid: 'archive', version: 1 } as const),
    store: url,
    tenant: tenant ?? null,
    format: options.format,
    outcomes: options.outcomes,
    from,
    upTo,
    rows,
    files: await files.finish(),
  }
  const path = await writeManifest(options.to, stem, manifest)
  const purged = options.delete ? await forget(store, format, options.to, manifest, now, progress) : 0
  return { ...manifest, manifest: path, purged, shortestWindowMs: shortest === Infinity ? null : shortest }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw invalidIntent(`--to cannot be made a folder: ${(error as Error).message}`, 'give --to a folder')
  }
}

/**
 * Settled receipts never change, so that an interval of their times is all there is to remember. What is about to be
 * forgotten is written in any case, even where an earlier run has it: this run answers for what it deletes.
 */
function isDue({ at, until }: Receipt, from: number, upTo: number, ended: number): boolean {
  return (at >= from && at < upTo) || (until !== null && until <= ended)
}

function lastEnd(manifests: readonly Manifest[], store: string, tenant: string | undefined): number | null {
  const other = manifests.find((each) => each.store !== store || each.tenant !== (tenant ?? null))
  if (other) {
    throw invalidIntent(
      `--to is the archive of ${other.store}${other.tenant === null ? '' : `, tenant ${other.tenant}`}`,
      'give every store and every tenant that is archived by itself a folder of its own',
    )
  }
  return manifests.at(-1)?.upTo ?? null
}

/** What the files hold and has ended, a few at a time, with a breath in between: claims go first. */
async function forget(
  store: Store,
  format: Format,
  folder: string,
  { files }: Manifest,
  nowMs: number,
  progress: Progress,
): Promise<number> {
  let purged = 0
  let batch: ReceiptClaim[] = []
  async function send(): Promise<void> {
    purged += await asked(store.forget(batch))
    batch = []
    progress.say(() => `forgetting: ${counted(purged, 'receipt')}`)
    await sleep(FORGET.pauseMs)
  }
  for (const { name } of files) {
    for await (const { tenant, scope, key, epoch, ends_at: endsAt } of format.read(join(folder, name))) {
      if (endsAt === null || Date.parse(endsAt) > nowMs) continue
      batch.push({ tenant, scope, key, epoch })
      if (batch.length === FORGET.batch) await send()
    }
  }
  if (batch.length > 0) await send()
  return purged
}

/** To the millisecond where it tells two runs apart. */
function stamp(ms: number, exact = false): string {
  return new Date(ms).toISOString().replaceAll(exact ? /[-:.]/g : /[-:]|\.\d+/g, '')
}

function text(result: Result, options: Options): string {
  const bytes = result.files.reduce((sum, file) => sum + file.bytes, 0)
  const lines = facts([
    [
      'archived',
      `${counted(result.rows, 'receipt')} in ${counted(result.files.length, 'file')}, ${count(bytes)} bytes`,
    ],
    [
      'settled',
      `${result.from === null ? 'from the beginning' : instant(result.from)} to ${instant(result.upTo)}`,
    ],
    ['verified', 'read back, counted, checksums equal'],
    ['manifest', result.manifest],
    [
      'forgotten',
      options.delete ? `${count(result.purged)} whose window had ended` : 'none (--delete was not given)',
    ],
  ])
  const { shortestWindowMs: shortest } = result
  if (shortest === null || shortest > options.olderThan) return lines
  const windows = `\nsome windows are ${duration(shortest)} long, no longer than --older-than`
  const advice =
    'such receipts can be forgotten before they are old enough. Take a shorter --older-than, and run more often than that'
  return lines + paint(`${windows}: ${advice}\n`, 'yellow')
}

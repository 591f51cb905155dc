/**
 * `ibid demo`: Harbor Payments in one command. A refund agent behind webhooks and a queue, in processes that a deploy
 * kills, through a storm that follows from a seed; the same storm without guards, with one layer and with all.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { invalidIntent } from '../core/errors.js'
import { openStore } from '../stores/open.js'
import { ALL, type Arm, armsOf, type Layer, LAYERS } from './demo/layers.js'
import { isClean } from './demo/outcome.js'
import { openPage, type Page } from './demo/page.js'
import { outcomeTable, type SeedResult, seedLine, totalLines } from './demo/report.js'
import { type Ran, runStorm } from './demo/run-storm.js'
import { makeStorm, type Trouble, TROUBLES } from './demo/storm.js'
import { EXIT } from './exit-codes.js'
import { asked } from './pages.js'
import { print } from './print.js'
import { startProgress } from './progress.js'
import { keepSecret, scrub, shownUrl } from './secrets.js'
import { wholeNumber } from './values.js'

interface Options {
  readonly seed?: number
  readonly seeds: number
  readonly refunds: number
  readonly without?: readonly Layer[]
  readonly only?: readonly Layer[]
  readonly guarded?: true
  readonly trouble?: readonly Trouble[]
  readonly store?: string
  readonly serve?: true
  readonly json?: true
}

/** Where one call of the command works, and on what. */
interface Place {
  readonly folder: string
  readonly store: string
  readonly page: Page | undefined
}

const LARGEST_SEED = 2 ** 32 - 1

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Harbor Payments: a storm of duplicates against a refund agent, without guards and with them',
    )
    .option('--seed <number>', 'the storm to run (default: any)', wholeNumber('--seed', 0, LARGEST_SEED))
    .option('--seeds <count>', 'run this many storms, from --seed on', wholeNumber('--seeds', 1, 100_000), 1)
    .option('--refunds <count>', 'refunds in a storm', wholeNumber('--refunds', 10, 1_000), 30)
    .addOption(new Option('--without <layer...>', 'another column: all layers but this').choices(LAYERS))
    .addOption(new Option('--only <layer...>', 'another column: this layer alone').choices(LAYERS))
    .addOption(new Option('--trouble <kind...>', 'nothing but this goes wrong').choices(TROUBLES))
    .option('--guarded', 'only the columns with all layers, and those that were asked for')
    .option('--store <url>', 'where receipts are kept (default: a new SQLite file)')
    .option('--serve', 'start the page on the same store first, and leave it running')
    .option('--json', 'print JSON')
    .action(run)
}

async function run(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-demo-'))
  const store = options.store ?? `sqlite:${join(folder, 'ibid.db')}`
  await prepare(store)
  const page = options.serve ? await openPage(store) : undefined
  let isOver = false
  for (const signal of page ? (['SIGINT', 'SIGTERM'] as const) : []) {
    process.once(signal, () => {
      page?.stop()
      if (!isOver) process.exit(130)
    })
  }
  try {
    await storms(options, { folder, store, page })
    isOver = true
  } catch (error) {
    page?.stop()
    throw error
  }
  await page?.closed
}

/** Tables and files are made once, before several processes want them. */
async function prepare(url: string): Promise<void> {
  keepSecret(url)
  if (/^memory:/i.test(url)) {
    throw invalidIntent(
      '--store is memory:, which several processes cannot share',
      'leave it out for a SQLite file, or give postgres://… or redis://…',
    )
  }
  const store = openStore(url)
  try {
    await asked(store.check())
  } finally {
    await store.close()
  }
}

async function storms(options: Options, place: Place): Promise<void> {
  const { seeds, refunds, json } = options
  const first = options.seed ?? randomInt(1_000_000)
  const arms = armsOf(options)
  const results: SeedResult[] = []
  if (!json) process.stdout.write(scrub(opening(options, first, place)))
  for (let seed = first; seed < first + seeds; seed++) {
    const result = { seed, outcomes: await oneSeed(seed, arms, options, place) }
    results.push(result)
    if (!json && seeds > 1) process.stdout.write(seedLine(result))
  }
  const outcomes = results.flatMap((result) => result.outcomes)
  const ok = outcomes.every((outcome) => outcome.arm !== ALL.name || isClean(outcome))
  print(json, {
    json: { store: shownUrl(place.store), refunds, folder: place.folder, ok, seeds: results },
    text: () => closing(results, arms, ok, place),
  })
  if (!ok) process.exitCode = EXIT.findings
}

async function oneSeed(
  seed: number,
  arms: readonly Arm[],
  { refunds, json, trouble }: Options,
  { folder, store }: Place,
): Promise<readonly Ran[]> {
  const storm = makeStorm(seed, refunds, trouble)
  const outcomes: Ran[] = []
  const progress = startProgress(json === true)
  try {
    for (const arm of arms) {
      const name = arm.name.replaceAll(' ', '-')
      const onProgress = (refunded: () => number, kills: number): void =>
        progress.say(
          () => `seed ${seed}, ${arm.name}: ${refunded()} of ${refunds} refunded, ${kills} instances killed`,
        )
      outcomes.push(
        await runStorm({ storm, arm, store, folder: join(folder, `seed-${seed}`, name), onProgress }),
      )
    }
  } finally {
    progress.end()
  }
  return outcomes
}

function opening({ refunds, seeds }: Options, seed: number, { store, page }: Place): string {
  const what = seeds === 1 ? `seed ${seed}` : `seeds ${seed} to ${seed + seeds - 1}`
  const live = page ? `Live: ${page.url}\n` : ''
  return `Harbor Payments: ${refunds} refunds a storm, ${what}, on ${shownUrl(store)}\n${live}\n`
}

function closing(results: readonly SeedResult[], arms: readonly Arm[], ok: boolean, place: Place): string {
  const { folder, store, page } = place
  const [first] = results
  const figures =
    results.length === 1 && first ? outcomeTable(first.outcomes) : `\n${totalLines(results, arms)}`
  const verdict = ok
    ? 'With all layers: no duplicate, nothing lost.'
    : 'With all layers there were duplicates or losses, which must not be: please report the seed.'
  const look = page
    ? `The page is at ${page.url} until you press Ctrl-C.`
    : `The receipts are kept. See them on a page: ibid serve --store ${shownUrl(store)}`
  return `${figures}\n${verdict}\nCounted in ${folder}, in files of the ledger and the mail sink.\n${look}\n`
}

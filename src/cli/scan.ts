/**
 * `ibid scan`: symptoms of broken idempotency, in the audit log of a store or in recorded calls. It says what it
 * found, and what cannot be seen from where it looked: the log holds fingerprints, not payloads.
 */
import { Command } from 'commander'
import { invalidIntent } from '../core/errors.js'
import { EXIT } from './exit-codes.js'
import { allEvents, allReceipts, clockOf } from './pages.js'
import { paint } from './paint.js'
import { print } from './print.js'
import { type Progress, startProgress } from './progress.js'
import { bursts } from './scan/bursts.js'
import { asEvents, readCalls } from './scan/calls.js'
import { fields } from './scan/fields.js'
import type { ScanFinding } from './scan/finding.js'
import { late } from './scan/late.js'
import { newKeys } from './scan/new-keys.js'
import { windows } from './scan/windows.js'
import { type StoreOptions, tenantOf, useStore, withStore, withTenant } from './store-option.js'
import { safe } from './text.js'
import { count, counted, instant } from './times.js'
import { durationMs } from './values.js'

interface Options extends StoreOptions {
  readonly calls?: string
  readonly since?: number
  readonly within: number
  readonly window?: number
  readonly values?: true
}

interface Scanned {
  readonly source: string
  readonly read: number
  readonly findings: readonly ScanFinding[]
  /** What this source cannot show. */
  readonly unseen: readonly string[]
}

export function scanCommand(): Command {
  const command = new Command('scan')
    .description('find symptoms of broken idempotency in an audit log, or in recorded calls')
    .option('--calls <file>', 'recorded calls, NDJSON, instead of a store')
    .option(
      '--within <duration>',
      'how close the same arguments under two keys are suspicious',
      durationMs('--within'),
      10_000,
    )
    .option('--since <duration>', 'of an audit log: only what happened in this time', durationMs('--since'))
    .option('--window <duration>', 'of recorded calls: the window that was set', durationMs('--window'))
    .option('--values', 'of recorded calls: show the values that differ; they may be private')
    .action(run)
  return withTenant(withStore(command))
}

async function run(options: Options): Promise<void> {
  const { calls, since, window, values, store } = options
  if (calls !== undefined && (store !== undefined || since !== undefined)) {
    throw invalidIntent(
      `--calls does not go with ${store === undefined ? '--since' : '--store'}`,
      'scan one or the other',
    )
  }
  if (calls === undefined && (window !== undefined || values)) {
    throw invalidIntent(
      `${values ? '--values' : '--window'} is for recorded calls`,
      'give --calls, or leave it out',
    )
  }
  const progress = startProgress(options.json === true)
  const scanned = await (
    calls === undefined ? scanStore(options, progress) : scanCalls(calls, options, progress)
  ).finally(progress.end)
  if (scanned.findings.length > 0) process.exitCode = EXIT.findings
  print(options.json, { json: scanned, text: () => text(scanned) })
}

async function scanStore(options: Options, progress: Progress): Promise<Scanned> {
  return await useStore(options, async ({ store, url }) => {
    const tenant = tenantOf(options)
    const windowMs = new Map<string, number>()
    for await (const { receipt } of allReceipts(store, { tenant, states: ['succeeded', 'failed'] })) {
      windowMs.set(receipt.scope, Math.min(receipt.windowMs, windowMs.get(receipt.scope) ?? Infinity))
      progress.say(() => 'reading receipts…')
    }
    const { now } = await clockOf(store)
    const since = options.since === undefined ? undefined : now - options.since
    const window = windows(windowMs)
    const detectors = [newKeys(options.within), window, bursts(), late()]
    let read = 0
    for await (const event of allEvents(store, { ...(tenant !== undefined && { tenant }), since })) {
      for (const detector of detectors) detector.see(event)
      read++
      progress.say(() => `reading the audit log: ${count(read)} events`)
    }
    return {
      source: url,
      read,
      findings: inOrder(detectors.flatMap((detector) => detector.findings())),
      unseen: [...UNSEEN_IN_LOG, ...(window.complete ? [] : [NOT_ALL_FOLLOWED])],
    }
  })
}

async function scanCalls(file: string, options: Options, progress: Progress): Promise<Scanned> {
  const tenant = tenantOf(options)
  const calls = []
  for await (const call of readCalls(file)) {
    if (tenant === undefined || call.tenant === tenant) calls.push(call)
    progress.say(() => `reading calls: ${count(calls.length)}`)
  }
  calls.sort((a, b) => a.at - b.at)
  const scopes = new Set(calls.map(({ scope }) => scope))
  const windowMs = new Map(
    options.window === undefined ? [] : [...scopes].map((scope) => [scope, options.window as number]),
  )
  const differing = fields(options.values === true)
  const detectors = [newKeys(options.within), windows(windowMs), bursts()]
  for (const call of calls) {
    differing.see(call)
    for (const event of asEvents(call)) for (const detector of detectors) detector.see(event)
  }
  const keyless = calls.filter(({ key }) => key === undefined).length
  const stepless = calls.filter(({ stepId }) => stepId === undefined).length
  return {
    source: file,
    read: calls.length,
    findings: inOrder([...differing.findings(), ...detectors.flatMap((detector) => detector.findings())]),
    unseen: [
      ...(keyless > 0 ? [`${keyless} calls have no key: whether they shared one is not known`] : []),
      ...(stepless > 0
        ? [`${stepless} calls have no stepId: whether they are retries of one step is not known`]
        : []),
      ...(options.window === undefined ? ['without --window, retries are not compared with one'] : []),
      'restarts, takeovers and late finishes are not in recorded calls: scan the audit log for them',
    ],
  }
}

const UNSEEN_IN_LOG = [
  'which field differed: the log keeps fingerprints and no payloads; scan recorded calls (--calls) for that',
  'the payload of a conflict: only that there was one, and of which key',
  'exact times of duplicates: equal ones are counted together and recorded once a second',
  'restarts themselves: only takeovers, sweeps and late finishes, which they leave behind',
  'effects that went past ibid, and what is older than the audit window',
]
const NOT_ALL_FOLLOWED = 'keys after the first million: take a shorter --since, or one --tenant at a time'

/** Errors first, then what happened most. */
function inOrder(findings: readonly ScanFinding[]): readonly ScanFinding[] {
  return findings.toSorted((a, b) => a.level.localeCompare(b.level) || b.count - a.count)
}

function text({ source, read, findings, unseen }: Scanned): string {
  const result = findings.length === 0 ? paint('no symptoms', 'green') : counted(findings.length, 'symptom')
  const head = `${count(read)} read from ${safe(source)}: ${result}\n`
  const body = findings.map((finding) => {
    const level = paint(finding.level, finding.level === 'error' ? 'red' : 'yellow')
    const examples = finding.examples.map((example) => `    ${safe(exampleText(example))}\n`)
    const of = finding.tenant === '' ? '' : ` (tenant ${safe(finding.tenant)})`
    const lines = `  ${safe(finding.message)}\n  ${paint('→', 'dim')} ${safe(finding.remedy)}\n`
    return `\n${level} ${finding.code}${of}\n${lines}${examples.join('')}`
  })
  const blind = unseen.map((line) => `  - ${line}\n`)
  return `${head}${body.join('')}\n${paint('not seen from here', 'dim')}\n${blind.join('')}`
}

function exampleText(example: Readonly<Record<string, string | number>>): string {
  return Object.entries(example)
    .map(([name, value]) => `${name} ${name === 'at' ? instant(Number(value)) : value}`)
    .join(', ')
}

/**
 * `ibid plan`: window, capacity, collision and cost, from rates that are given or, with --store, read out of the audit
 * log of a store that is at work. A flag that is given always wins over what was observed.
 */
import { Command } from 'commander'
import { invalidIntent } from '../core/errors.js'
import { collisionRisk, planCapacity, planCost, planWindow } from '../plan/index.js'
import { createObserver, type Observed } from './observed.js'
import { allEvents, clockOf } from './pages.js'
import { paint } from './paint.js'
import { print } from './print.js'
import { startProgress } from './progress.js'
import { useStore } from './store-option.js'
import { facts } from './table.js'
import { count, duration } from './times.js'
import { decimal, durationMs, wholeNumber } from './values.js'

interface Options {
  readonly store?: string
  readonly json?: true
  readonly since?: number
  readonly rate?: number
  readonly callerSeconds: number
  readonly retrySeconds?: number
  readonly networkSeconds: number
  readonly clockSeconds: number
  readonly window?: number
  readonly margin: number
  readonly duplicates?: number
  readonly over: number
  readonly bits: number
  readonly bytesPerRecord: number
  readonly auditWindow: number
  readonly bytesPerEvent: number
  readonly gbMonth: number
  readonly millionWrites: number
}

const MS = 1_000
/** Measured on SQLite, with random keys and results of 300 bytes; other stores take more. */
const BYTES = { record: 550, event: 51 }

export function planCommand(): Command {
  return new Command('plan')
    .description('window, capacity, collision risk and cost, from rates given or observed')
    .option('--rate <n>', 'actions accepted per second', decimal('--rate'))
    .option('--caller-seconds <n>', 'how long a caller waits for its answer', decimal('--caller-seconds'), 30)
    .option('--retry-seconds <n>', 'from the first try to the last retry', decimal('--retry-seconds'))
    .option(
      '--network-seconds <n>',
      'how late the network or a queue may deliver',
      decimal('--network-seconds'),
      30,
    )
    .option('--clock-seconds <n>', 'how far clocks and clean-up may be apart', decimal('--clock-seconds'), 5)
    .option(
      '--window <duration>',
      'the window that is set, instead of the shortest safe one',
      durationMs('--window'),
    )
    .option('--margin <share>', 'on top of the capacity: 0.2 is 20 percent', decimal('--margin', 0, 1), 0.2)
    .option(
      '--duplicates <share>',
      'share of actions that comes again: 0.06 is 6 percent',
      decimal('--duplicates'),
    )
    .option('--over <duration>', 'for how long such duplicates go on', durationMs('--over'), 600 * MS)
    .option('--bits <n>', 'random bits in a key', wholeNumber('--bits', 1, 1_000), 122)
    .option(
      '--bytes-per-record <n>',
      'stored per receipt, index included',
      decimal('--bytes-per-record'),
      BYTES.record,
    )
    .option(
      '--audit-window <duration>',
      'how long the audit log is kept',
      durationMs('--audit-window'),
      30 * 86_400 * MS,
    )
    .option('--bytes-per-event <n>', 'stored per audit event', decimal('--bytes-per-event'), BYTES.event)
    .option('--gb-month <price>', 'price of a GB for a month', decimal('--gb-month'), 0)
    .option('--million-writes <price>', 'price of a million writes', decimal('--million-writes'), 0)
    .option(
      '--store <url>',
      'read the rates out of the audit log of this store ($IBID_STORE is not looked at)',
    )
    .option('--since <duration>', 'with --store: only what happened in this time', durationMs('--since'))
    .option('--json', 'print JSON')
    .action(run)
}

async function run(options: Options): Promise<void> {
  if (options.since !== undefined && options.store === undefined) {
    throw invalidIntent('--since is given without --store', 'say which audit log to read: --store URL')
  }
  const observed = options.store === undefined ? undefined : await observe(options)
  const plan = planOf(options, observed)
  print(options.json, {
    json: { observed: observed ?? null, ...plan },
    text: () => text(plan, options, observed),
  })
}

async function observe(options: Options): Promise<Observed> {
  const progress = startProgress(options.json === true)
  return await useStore(
    { ...(options.store !== undefined && { store: options.store }) },
    async ({ store }) => {
      const { now } = await clockOf(store)
      const since = options.since === undefined ? undefined : now - options.since
      const observer = createObserver()
      let read = 0
      for await (const event of allEvents(store, { since })) {
        observer.see(event)
        read++
        progress.say(() => `reading the audit log: ${count(read)} events`)
      }
      progress.end()
      const result = observer.result()
      if (result.originals > 0) return result
      throw invalidIntent(
        'the audit log of --store has no claims in that time',
        'let it work for a while, take a longer --since, or give --rate',
      )
    },
  )
}

type Plan = ReturnType<typeof planOf>

/** The store has to live through its busiest seconds, so capacity goes by the peak; money goes by the average. */
function planOf(options: Options, observed: Observed | undefined) {
  const perSecond = options.rate ?? observed?.peakPerSecond
  const retrySeconds = options.retrySeconds ?? observed?.retrySeconds
  if (perSecond === undefined) throw missing('--rate', 'actions accepted per second')
  if (retrySeconds === undefined && options.window === undefined) {
    throw missing('--retry-seconds', 'the time from the first try to the last retry')
  }
  const { callerSeconds, networkSeconds, clockSeconds, margin } = options
  const safeSeconds =
    retrySeconds === undefined
      ? undefined
      : planWindow({ callerSeconds, retrySeconds, networkSeconds, clockSeconds })
  const windowSeconds = options.window === undefined ? (safeSeconds as number) : options.window / MS
  const duplicateShare = options.duplicates ?? observed?.duplicateShare ?? 0
  const overSeconds = options.over / MS
  const capacity = planCapacity({ perSecond, windowSeconds, margin, duplicateShare, overSeconds })
  const average = options.rate ?? observed?.perSecond ?? perSecond
  const cost = planCost({
    records: capacity.records,
    bytesPerRecord: options.bytesPerRecord,
    perSecond: average,
    // One event for the claim, one for the settling, one when it is forgotten.
    events: Math.round(3 * average * (options.auditWindow / MS)),
    bytesPerEvent: options.bytesPerEvent,
    pricePerGbMonth: options.gbMonth,
    pricePerMillionWrites: options.millionWrites,
  })
  return {
    window: {
      seconds: windowSeconds,
      safeSeconds: safeSeconds ?? null,
      isSafe: safeSeconds === undefined ? null : windowSeconds >= safeSeconds,
    },
    capacity,
    collision: {
      keys: capacity.records,
      bits: options.bits,
      risk: collisionRisk({ keys: capacity.records, bits: options.bits }),
    },
    cost,
    rates: {
      perSecond,
      averagePerSecond: average,
      duplicateShare,
      overSeconds,
      margin,
      retrySeconds: retrySeconds ?? null,
    },
  }
}

function missing(flag: string, what: string): Error {
  return invalidIntent(
    `${flag} is missing`,
    `give ${flag}, ${what}, or --store, to read it out of an audit log`,
  )
}

function text(plan: Plan, options: Options, observed: Observed | undefined): string {
  const { window, capacity, collision, cost, rates } = plan
  const over = duration(rates.overSeconds * MS)
  const log = `audit log in ${duration(options.auditWindow)}`
  const priced = options.gbMonth > 0 || options.millionWrites > 0
  const lines = facts([
    [
      'window',
      `${figure(window.seconds)} s${long(window.seconds)}${window.isSafe === false ? ', TOO SHORT' : ''}`,
    ],
    ['records', `${count(capacity.records)} alive at once, with ${figure(rates.margin * 100)} % margin`],
    [
      'duplicates',
      `${figure(capacity.duplicatesPerSecond)}/s, ${count(capacity.duplicates)} in ${over}; of those that execute: 0`,
    ],
    ['collision', `${risk(collision.risk)} by accident, ${collision.bits} random bits`],
    ['writes', `${figure(cost.writesPerSecond)}/s`],
    [
      'storage',
      `${bytes(cost.bytes)}: ${bytes(cost.bytes - cost.eventBytes)} of receipts, ${bytes(cost.eventBytes)} of ${log}`,
    ],
    ...(priced
      ? [
          [
            'cost a month',
            `${money(cost.perMonth)} (storage ${money(cost.storagePerMonth)}, writes ${money(cost.writesPerMonth)})`,
          ] as const,
        ]
      : []),
  ])
  const warning =
    window.isSafe === false
      ? paint(
          `\na retry can come after the window and execute again: at least ${figure(window.safeSeconds ?? 0)} s\n`,
          'red',
        )
      : ''
  return (observed === undefined ? '' : `${seen(observed)}\n`) + lines + warning
}

function seen(observed: Observed): string {
  return facts([
    ['observed', `${count(observed.originals)} actions in ${duration(observed.seconds * MS)}`],
    ['rate', `${figure(observed.perSecond)}/s, busiest ${figure(observed.peakPerSecond)}/s`],
    ['came again', `${count(observed.duplicates)} (${figure(observed.duplicateShare * 100)} %)`],
    [
      'latest retry',
      `${count(observed.retrySeconds)} s after its claim${observed.complete ? '' : ', in the part that was followed'}`,
    ],
  ])
}

function figure(value: number): string {
  return value >= 1_000 ? count(value) : String(Number(value.toPrecision(3)))
}

function long(seconds: number): string {
  return seconds >= 120 ? ` (${duration(seconds * MS)})` : ''
}

function risk(value: number): string {
  return value === 0 ? '0' : value.toExponential(2)
}

function money(value: number): string {
  return value.toFixed(2)
}

function bytes(value: number): string {
  const unit = [1e12, 1e9, 1e6, 1e3].findIndex((size) => value >= size)
  return unit === -1
    ? `${value} B`
    : `${(value / 10 ** (12 - unit * 3)).toPrecision(3)} ${['TB', 'GB', 'MB', 'kB'][unit]}`
}

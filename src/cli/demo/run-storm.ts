/**
 * One storm against one set of layers: the outside world comes up, then the instances, then everything is sent; it is
 * over when all of it was answered and the queue is empty. What came of it is read from files.
 */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { IbidError } from '../../core/errors.js'
import { openBook } from './book.js'
import { type Fleet, startFleet } from './fleet.js'
import type { Arm } from './layers.js'
import { startLedgerApi } from './ledger-api.js'
import { startMailSink } from './mail-sink.js'
import { type Outcome, outcomeOf } from './outcome.js'
import { openQueue, type Queue } from './queue.js'
import { type Sending, startSending } from './sender.js'
import type { Storm } from './storm.js'

export interface StormOptions {
  readonly storm: Storm
  readonly arm: Arm
  readonly store: string
  /** Where the files of this storm are kept. */
  readonly folder: string
  /** Told now and then how far it is; counts only when asked. */
  readonly onProgress: (refunded: () => number, kills: number) => void
}

export interface Ran extends Outcome {
  readonly tenant: string
}

const LOOK_MS = 25
/** The queue has to look empty this often in a row: a file that is just being renamed can be overlooked. */
const QUIET_LOOKS = 4
const LONGEST_MS = 120_000

export async function runStorm({ storm, arm, store, folder, onProgress }: StormOptions): Promise<Ran> {
  await mkdir(folder, { recursive: true })
  const refunds = openBook(join(folder, 'refunds.jsonl'))
  const mails = openBook(join(folder, 'mails.jsonl'))
  const queueFolder = join(folder, 'queue')
  const queue = openQueue(queueFolder)
  const tenant = `harbor-${storm.seed}-${arm.name.replaceAll(' ', '-')}-${randomBytes(3).toString('hex')}`
  const secret = `whsec_${randomBytes(16).toString('hex')}`
  const stop = new AbortController()
  // The deploy hits whoever is calling; while the fleet comes up nobody calls.
  let fleet: Fleet | undefined
  const kill = (pid: number): void => fleet?.kill(pid)
  const [ledgerApi, mailSink] = await Promise.all([
    startLedgerApi(storm, refunds, kill),
    startMailSink(storm, mails, kill),
  ])
  try {
    fleet = await startFleet(storm.instances, {
      layers: arm.layers,
      store,
      tenant,
      queueFolder,
      ledgerUrl: ledgerApi.url,
      mailUrl: mailSink.url,
      secret,
      charges: storm.charges.map(({ charge, lostAcks, replans }) => ({ charge, lostAcks, replans })),
    })
    const { instance } = fleet
    const sending = startSending({ storm, secret, instance, signal: stop.signal })
    const deploys = deploy(storm, fleet)
    await untilQuiet(sending, queue, fleet, () => onProgress(() => countOf(refunds.all()), fleet?.kills ?? 0))
    await deploys
    const { kills } = fleet
    await fleet.close()
    const dead = new Set(queue.dead().map(({ charge }) => charge))
    if (queue.size > 0) throw stuck(queue, sending)
    const { firstSentMs } = sending
    return { ...outcomeOf({ storm, arm, refunds, mails, dead, firstSentMs, kills }), tenant }
  } finally {
    stop.abort()
    await fleet?.close()
    await Promise.all([ledgerApi.close(), mailSink.close()])
  }
}

async function deploy({ deploys }: Storm, fleet: Fleet): Promise<void> {
  await Promise.all(
    deploys.map(async ({ atMs, slot }) => {
      await sleep(atMs)
      fleet.killSlot(slot)
    }),
  )
}

async function untilQuiet(sending: Sending, queue: Queue, fleet: Fleet, tell: () => void): Promise<void> {
  const startMs = performance.now()
  for (let quiet = 0; quiet < QUIET_LOOKS;) {
    if (fleet.problem) throw fleet.problem
    if (performance.now() - startMs > LONGEST_MS) throw stuck(queue, sending)
    quiet = sending.done && queue.size === 0 ? quiet + 1 : 0
    tell()
    await sleep(LOOK_MS)
  }
}

function countOf(lines: readonly { readonly charge: string }[]): number {
  return new Set(lines.map(({ charge }) => charge)).size
}

function stuck(queue: Queue, { open, lastRefusal }: Sending): IbidError {
  return new IbidError(
    `the storm is not over after ${LONGEST_MS / 1_000} s: ${queue.size} messages are left, and ${open} requests that ` +
      `nobody has accepted (the last refusal: ${lastRefusal})`,
    {
      code: 'DEMO_STUCK',
      retriable: true,
      action: 'run it again on a machine with less to do, or with fewer --refunds',
    },
  )
}

/** Durability: what was acknowledged is still there, after a close and after a SIGKILL in the middle of the work. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { AuditEvent } from '../../core/audit.js'
import { type Receipt, STATES } from '../../core/receipt.js'
import type { Store } from '../../store.js'
import { ledger } from '../ledger.js'
import { events } from './audit.js'
import type { TestStoreOptions } from './bench.js'
import type { Acknowledged } from './child.js'
import { addressOf } from './claim.js'
import { change, HOUR_MS, put, putAs, SHORT_MS, swapped } from './drafts.js'
import { holds, same } from './expect.js'
import { withChildren } from './processes.js'
import { purgeAll } from './purge.js'
import { pages } from './scan.js'
import { type Case, type Subject, subject } from './suite.js'

export function durability(options: TestStoreOptions): Subject {
  return subject('durability', {
    ...(options.durable === false ? {} : reopening),
    ...(options.durable === false || options.time !== 'clock' ? {} : stepping),
    ...(options.durable === false || options.module === undefined ? {} : killing),
  })
}

const reopening: Readonly<Record<string, Case['run']>> = {
  'has everything after a close': async ({ store, open }) => {
    const stored = []
    for (const state of STATES) stored.push(await putAs(store, state))
    const log = await events(store, {})
    await store.close()
    const again = await open()
    same(
      (await again.get(stored)).receipts,
      stored,
      'a store that is opened again must have every receipt, as it was',
    )
    same(await events(again, {}), log, 'a store that is opened again must have its audit log')
    const [claimed] = await again.claim([{ ...change(stored[0] as never, 'pending').next, token: 'late' }])
    holds(claimed?.won === false, 'a store that is opened again must still know who won')
  },
}

const stepping: Readonly<Record<string, Case['run']>> = {
  '[R61] keeps epochs going up over a purge, a close and a clock that steps back': async (bench) => {
    const { store, context, advance, open } = bench
    const first = await put(store)
    await swapped(store, change(first, 'released', { forMs: SHORT_MS }))
    await advance(SHORT_MS * 2)
    await purgeAll(store)
    await store.close()
    context.clock.advance(-HOUR_MS)
    const again = await put(await open(), addressOf(first))
    holds(again.epoch > first.epoch, 'an epoch must not go back, not even after a purge and a restart')
  },
}

const killing: Readonly<Record<string, Case['run']>> = {
  '[R61] loses nothing that it acknowledged to a process that was killed': async (bench) => {
    const acknowledged = ledger(join(bench.context.directory, 'acknowledged.jsonl'))
    for (let kill = 1; kill <= 3; kill++) {
      await withChildren(
        bench,
        async ([child]) => {
          const loading = child?.call('load', acknowledged.file).catch(() => 'killed')
          while (acknowledged.all().length < kill * 150) {
            const stopped = await Promise.race([loading, sleep(5)])
            holds(stopped === undefined, 'a store must go on working under load')
          }
          await child?.kill()
        },
        1,
      )
    }
    const last = new Map(acknowledged.all().map(({ key, data }) => [key, data as Acknowledged]))
    const { receipts, log } = await settled(bench.store)
    const stored = new Map(receipts.map((receipt) => [receipt.key, receipt]))
    for (const [key, { token, state }] of last) {
      const receipt = stored.get(key)
      same(receipt?.token, token, 'a claim that was acknowledged must survive a SIGKILL')
      if (state === 'succeeded')
        same(receipt?.state, state, 'a swap that was acknowledged must survive a SIGKILL')
    }
    for (const [event, states] of [
      ['claimed', ['pending', 'succeeded']],
      ['settled', ['succeeded']],
    ] as const) {
      const noted = log.filter((entry) => entry.event === event).map(({ key }) => key)
      const changed = [...stored.values()].filter(({ state }) => states.some((one) => one === state))
      same(
        noted.toSorted(),
        changed.map(({ key }) => key).toSorted(),
        'a change and its note must be kept together, or neither',
      )
    }
    const fresh = await put(bench.store)
    holds(fresh.state === 'pending', 'a store must go on working for others when a process was killed')
  },
}

/**
 * Receipts and log as they were at one moment. A server may still be at work on what the killed process had asked for,
 * so the log is read between two equal readings of the receipts.
 */
async function settled(
  store: Store,
): Promise<{ readonly receipts: readonly Receipt[]; readonly log: readonly AuditEvent[] }> {
  for (let receipts = await pages(store, {}, 500); ;) {
    const log = await events(store, {}, 500)
    const again = await pages(store, {}, 500)
    if (isDeepStrictEqual(receipts, again)) return { receipts, log }
    receipts = again
  }
}

/**
 * `ibid held`: the receipts that wait for a person, the longest first. A pending one whose lease lapsed under
 * `hold`, or whose attempts are used up, counts as held already: only nobody has come by to say so.
 */
import { Command } from 'commander'
import type { AuditName } from '../core/audit.js'
import { type Receipt, type ReceiptView, view } from '../core/receipt.js'
import { conditionOf, findRow } from '../core/transitions.js'
import type { Store } from '../store.js'
import { EXIT } from './exit-codes.js'
import { allEvents, allReceipts, clockOf } from './pages.js'
import { print } from './print.js'
import { type StoreOptions, tenantOf, useStore, withStore, withTenant } from './store-option.js'
import { table } from './table.js'
import { count, duration, instant } from './times.js'
import { wholeNumber } from './values.js'

interface Options extends StoreOptions {
  readonly scope?: string
  readonly limit: number
  readonly exitCode?: true
}

export interface Held extends ReceiptView {
  /** What the audit log says about how it came to be held. */
  readonly why: string | undefined
}

export function heldCommand(): Command {
  const command = new Command('held')
    .description('list the receipts whose outcome is unknown, longest first')
    .option('--scope <scope>', 'only of this operation')
    .option('--limit <count>', 'how many to list', wholeNumber('--limit', 1, 100_000), 100)
    .option('--exit-code', `exit with ${EXIT.findings} when there are any`)
    .action(run)
  return withTenant(withStore(command))
}

async function run(options: Options): Promise<void> {
  await useStore(options, async ({ store }) => {
    const { now } = await clockOf(store)
    const held = await findHeld(store, { tenant: tenantOf(options), scope: options.scope })
    const listed = held.slice(0, options.limit)
    const receipts: Held[] = []
    for (const receipt of listed) receipts.push({ ...view(receipt), why: await whyOf(store, receipt) })
    if (options.exitCode && held.length > 0) process.exitCode = EXIT.findings
    print(options.json, {
      json: { held: receipts, total: held.length, now },
      text: () => text(receipts, held.length, now),
    })
  })
}

export async function findHeld(
  store: Store,
  query: { readonly tenant?: string | undefined; readonly scope?: string | undefined } = {},
): Promise<readonly Receipt[]> {
  const held: Receipt[] = []
  for await (const { receipt, now } of allReceipts(store, { ...query, states: ['unknown', 'pending'] })) {
    const condition = conditionOf(receipt, now)
    const isHeld = condition === 'unknown' || findRow(condition, 'sweep', receipt.recovery)?.to === 'unknown'
    if (isHeld) held.push(receipt)
  }
  return held.sort((a, b) => a.at - b.at)
}

/** The words of whoever gave this attempt up. An older attempt was given up for other reasons, or was no attempt. */
async function whyOf(store: Store, { tenant, scope, key, epoch }: Receipt): Promise<string | undefined> {
  for await (const event of allEvents(store, { tenant, scope, key, newestFirst: true })) {
    if (event.epoch < epoch) return undefined
    if (event.epoch === epoch && HELD.includes(event.event)) return event.why
  }
  return undefined
}

const HELD: readonly AuditName[] = ['held', 'swept']

function text(held: readonly Held[], total: number, now: number): string {
  if (total === 0) return 'nothing is held\n'
  const listed = table(held, [
    { title: 'HELD FOR', cell: ({ at }) => duration(now - at), align: 'right' },
    { title: 'TENANT', cell: ({ tenant }) => tenant },
    { title: 'SCOPE', cell: ({ scope }) => scope },
    { title: 'KEY', cell: ({ key }) => key },
    { title: 'TRY', cell: ({ attempt }) => String(attempt), align: 'right' },
    { title: 'CREATED', cell: ({ createdAt }) => instant(createdAt) },
    { title: 'WHY', cell: ({ why }) => why ?? 'its lease lapsed' },
  ])
  const more = total > held.length ? `${count(total - held.length)} more: --limit\n` : ''
  const then = 'Look up downstream what happened, then: ibid resolve <scope> <key> --as …'
  return `${listed}\n${count(total)} held. ${then}\n${more}`
}

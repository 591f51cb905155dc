/** `ibid inspect`: one receipt with its whole story, or a list of those that fit. Changes nothing. */
import { Argument, Command, Option } from 'commander'
import type { AuditEvent } from '../core/audit.js'
import { IbidError, invalidIntent } from '../core/errors.js'
import { MOST_ATTEMPTS } from '../core/policy.js'
import { STATES, type State } from '../core/receipt.js'
import type { ReceiptDetail } from '../ibid.js'
import { clockOf } from './pages.js'
import { paint } from './paint.js'
import { print } from './print.js'
import { colourOf, receiptsTable } from './receipts-table.js'
import { type StoreOptions, tenantOf, useIbid, withStore, withTenant } from './store-option.js'
import { type Column, facts, table } from './table.js'
import { duration, instant, since } from './times.js'
import { wholeNumber } from './values.js'

interface Options extends StoreOptions {
  readonly state?: readonly State[]
  readonly limit: number
  readonly cursor?: string
  readonly values: boolean
}

export function inspectCommand(): Command {
  const command = new Command('inspect')
    .description('show a receipt and its story; without a key, list the receipts that fit')
    .addArgument(new Argument('[scope]', 'the operation, such as tool:issue_refund'))
    .addArgument(new Argument('[key]', 'the key of the receipt'))
    .addOption(new Option('--state <state...>', 'only receipts in these states').choices(STATES))
    .option('--limit <count>', 'how many to list, up to 1000', wholeNumber('--limit', 1, 1_000), 50)
    .option('--cursor <cursor>', 'where the list before ended')
    .option('--no-values', 'leave out what the effect returned')
    .action(async (scope: string | undefined, key: string | undefined, options: Options) => {
      const tenant = tenantOf(options)
      if (tenant !== undefined && scope !== undefined && key !== undefined)
        await one(tenant, scope, key, options)
      else await many({ tenant, scope, key }, options)
    })
  return withTenant(withStore(command))
}

async function one(tenant: string, scope: string, key: string, options: Options): Promise<void> {
  if (options.state !== undefined || options.cursor !== undefined) {
    throw invalidIntent(
      `--${options.state === undefined ? 'cursor' : 'state'} is for lists`,
      'leave it out, or leave out the key',
    )
  }
  await useIbid(options, async ({ ibid, store }) => {
    const where = { tenant, scope, key }
    const [found, history, { now }] = [await ibid.get(where), await ibid.history(where), await clockOf(store)]
    if (found === undefined && history.length === 0) {
      throw new IbidError(
        `there is no receipt for key ${JSON.stringify(key)} in scope ${JSON.stringify(scope)}`,
        {
          code: 'NOT_FOUND',
          retriable: false,
          action: `check tenant (${tenant}), scope and key; ibid inspect lists what is there`,
        },
      )
    }
    const receipt = found && withoutValue(found, options.values)
    print(options.json, {
      json: { receipt: receipt ?? null, history, now },
      text: () => story(where, receipt, history, now),
    })
  })
}

async function many(
  query: {
    readonly tenant?: string | undefined
    readonly scope?: string | undefined
    readonly key?: string | undefined
  },
  options: Options,
): Promise<void> {
  const { state, limit, cursor } = options
  await useIbid(options, async ({ ibid, store }) => {
    const page = await ibid.list({ ...query, state, limit, cursor })
    const { now } = await clockOf(store)
    print(options.json, {
      json: { receipts: page.receipts, cursor: page.cursor ?? null, now },
      text: () => {
        if (page.receipts.length === 0) return 'no receipts fit\n'
        const more = page.cursor === undefined ? '' : `\nmore: --cursor ${page.cursor}\n`
        return receiptsTable(page.receipts, now) + more
      },
    })
  })
}

function withoutValue(receipt: ReceiptDetail, keep: boolean): object & ReceiptDetail {
  if (keep) return receipt
  const { value: _, error: __, ...rest } = receipt
  return rest
}

function story(
  where: { readonly tenant: string; readonly scope: string; readonly key: string },
  receipt: ReceiptDetail | undefined,
  history: readonly AuditEvent[],
  now: number,
): string {
  const head = [
    ['tenant', where.tenant],
    ['scope', where.scope],
    ['key', where.key],
  ] as const
  const rest = receipt === undefined ? forgotten() : known(receipt, now)
  const state = receipt === undefined ? 'forgotten' : receipt.state
  const title = paint(state, receipt === undefined ? 'dim' : colourOf(receipt.state))
  return `${title}\n\n${facts([...head, ...rest])}\n${historyTable(history)}${advice(receipt)}`
}

function forgotten(): readonly (readonly [string, string])[] {
  return [['state', 'its window has ended; a duplicate now is a new action']]
}

function known(receipt: ReceiptDetail, now: number): readonly (readonly [string, string])[] {
  const { attempt, maxAttempts, recovery, epoch, fingerprint, createdAt, until, leaseMs, windowMs } = receipt
  return [
    ['attempt', maxAttempts < MOST_ATTEMPTS ? `${attempt} of at most ${maxAttempts}` : String(attempt)],
    ['recovery', recovery],
    ['epoch', String(epoch)],
    ['fingerprint', fingerprint],
    ['created', `${instant(createdAt)} (${since(createdAt, now)})`],
    ['in this state', `${instant(receipt.at)} (${since(receipt.at, now)})`],
    [
      receipt.state === 'pending' ? 'lease ends' : 'forgotten',
      until === null ? 'never by itself' : since(until, now),
    ],
    ['lease, window', `${duration(leaseMs)}, ${duration(windowMs)}`],
    ...('value' in receipt ? [['value', shown(receipt.value)] as const] : []),
    ...(receipt.error === undefined
      ? []
      : [['error', `${receipt.error.code}: ${receipt.error.message}`] as const]),
  ]
}

function shown(value: unknown): string {
  const text =
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'undefined'
  return text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length} characters; --json has all)` : text
}

function historyTable(history: readonly AuditEvent[]): string {
  if (history.length === 0) return 'the audit log has nothing about it any more\n'
  const columns: readonly Column<AuditEvent>[] = [
    { title: 'AT', cell: ({ at }) => instant(at) },
    { title: 'EVENT', cell: ({ event }) => event },
    { title: 'TIMES', cell: (event) => String(event.count), align: 'right' },
    { title: 'TRY', cell: ({ attempt }) => String(attempt), align: 'right' },
    {
      title: 'THEN',
      cell: ({ state }) => state ?? 'gone',
      colour: ({ state }) => (state ? colourOf(state) : 'dim'),
    },
    { title: 'BY', cell: ({ by }) => by ?? '' },
    { title: 'WHY', cell: ({ why }) => why ?? '' },
  ]
  return table(history, columns)
}

function advice(receipt: ReceiptDetail | undefined): string {
  if (receipt?.state !== 'unknown') return ''
  return '\nlook up downstream what happened, then: ibid resolve --as … --by … --why …\n'
}

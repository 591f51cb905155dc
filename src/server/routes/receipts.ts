/** Receipts as they are: one, many at once, a page of those that match, and what was decided about them. */
import { AUDIT_EVENTS, type AuditEvent, type AuditName } from '../../core/audit.js'
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { type ReceiptView, type State, STATES } from '../../core/receipt.js'
import { toTagged } from '../../core/tagged.js'
import type { ReceiptDetail } from '../../ibid.js'
import { RESERVED } from '../api-keys.js'
import { tooMany } from '../batch.js'
import { seal, unseal } from '../cursor.js'
import { countOf, objectOf, queryOf, textIfGiven, textOf } from '../fields.js'
import { operation } from '../operation.js'
import type { ApiRequest, Route } from '../route.js'
import { tenantIfAny, tenantOf, whoseLimit } from '../tenant-of.js'
import { capped, waiting } from '../waiting.js'

const WHERE = { tenant: 'only with a key for every tenant', scope: 'the operation', key: 'the key' }
const NEEDS = ['scope', 'key']
const ADDRESS = Object.keys(WHERE)
/** Pages of the store that are looked through for one page of an answer. */
const MOST_PAGES = 20

export const RECEIPT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/receipt',
    right: 'read',
    about: operation({
      id: 'lookUp',
      summary: 'One receipt, with its value or refusal; with `wait`, as soon as nobody works on it',
      query: { ...WHERE, wait: 'how long to wait while it is pending, such as 30s' },
      needs: NEEDS,
      answers: { 200: 'Found' },
    }),
    async handle(request) {
      const { at } = request
      const { wait, ...where } = addressOf(request, ['wait'])
      const forMs = wait === undefined ? 0 : capped(durationOf(wait), at.settings.maxWait, 'wait')
      const found = await waiting(at, forMs, async () =>
        forMs === 0 ? await at.ibid.get(where) : await at.ibid.wait(where, { for: forMs }),
      )
      return { status: 200, body: { receipt: shown(found) } }
    },
  },
  {
    method: 'POST',
    path: '/v1/receipts/lookup',
    right: 'read',
    about: operation({
      id: 'lookUpMany',
      summary: 'Many receipts at once, in the order asked for; null where there is none',
      body: { many: ['receipts', 'Address'] },
      answers: { 200: 'FoundList' },
    }),
    async handle({ at, principal, body }) {
      const { receipts } = objectOf(body, 'the body', ['receipts'])
      if (!Array.isArray(receipts))
        throw invalidIntent('receipts is not a list', 'send { "receipts": [ … ] }')
      if (receipts.length > at.settings.maxBatch) throw tooMany(receipts.length, at.settings.maxBatch)
      at.limits.spend(whoseLimit(principal), receipts.length)
      const found = await Promise.all(
        receipts.map(async (one: unknown, index) => {
          const item = objectOf(one, `receipts[${index}]`, ADDRESS)
          const tenant = tenantOf(principal, textIfGiven(item, 'tenant'))
          return shown(await at.ibid.get({ tenant, scope: textOf(item, 'scope'), key: textOf(item, 'key') }))
        }),
      )
      return { status: 200, body: { receipts: found } }
    },
  },
  {
    method: 'GET',
    path: '/v1/receipts',
    right: 'read',
    about: operation({
      id: 'search',
      summary: 'A page of receipts; a cursor says that there may be more, also when this page is empty',
      query: {
        ...WHERE,
        state: `one or several of ${STATES.join(', ')}, with commas`,
        q: 'a part of the key',
        since: 'only those that came into their state at this time or later: ISO 8601 or milliseconds',
        until: 'only those that came into their state before this time',
        limit: '1 to 1000; default 100',
        cursor: 'from the page before',
      },
      answers: { 200: 'Page' },
    }),
    handle: async (request) => ({ status: 200, body: await search(request) }),
  },
  {
    method: 'GET',
    path: '/v1/receipt/history',
    right: 'read',
    about: operation({
      id: 'history',
      summary: 'Every decision about one receipt, oldest first',
      query: WHERE,
      needs: NEEDS,
      answers: { 200: 'History' },
    }),
    handle: async (request) => ({
      status: 200,
      body: { events: await request.at.ibid.history(addressOf(request)) },
    }),
  },
  {
    method: 'GET',
    path: '/v1/receipt/timeline',
    right: 'read',
    about: operation({
      id: 'timeline',
      summary: 'The whole story of a key: every layer that has a receipt for it, and all decisions in order',
      query: { tenant: WHERE.tenant, key: WHERE.key },
      needs: ['key'],
      answers: { 200: 'Timeline' },
    }),
    handle: async (request) => ({ status: 200, body: await timeline(request) }),
  },
  {
    method: 'GET',
    path: '/v1/log',
    right: 'read',
    about: operation({
      id: 'log',
      summary:
        'The audit log, oldest first; the cursor of the last page goes on where the log ends. Newest first, there is none at the end',
      query: {
        ...WHERE,
        event: `one or several of ${AUDIT_EVENTS.join(', ')}, with commas`,
        since: 'only decisions at this time or later: ISO 8601 or milliseconds',
        order: 'oldest (default) to follow the log, newest to look back',
        limit: '1 to 1000; default 100',
        cursor: 'from the page before',
      },
      answers: { 200: 'Log' },
    }),
    handle: async (request) => ({ status: 200, body: await log(request) }),
  },
]

type Address = { readonly tenant: string; readonly scope: string; readonly key: string }

function addressOf(
  { principal, query }: ApiRequest,
  more: readonly string[] = [],
): Address & { wait?: string } {
  const fields = queryOf(query, [...ADDRESS, ...more])
  const { wait } = fields
  return {
    tenant: tenantOf(principal, fields['tenant']),
    scope: textOf(fields, 'scope'),
    key: textOf(fields, 'key'),
    ...(wait === undefined ? {} : { wait }),
  }
}

export async function search({ at, principal, query }: ApiRequest, states?: readonly State[]) {
  const asked = queryOf(query, [...ADDRESS, 'state', 'q', 'since', 'until', 'limit', 'cursor'])
  const { tenant, scope, key, q, state } = asked
  const [sinceMs, untilMs] = [instantOf(asked['since'], 'since'), instantOf(asked['until'], 'until')]
  const limit = countOf(asked['limit'], 'limit', 100, 1_000)
  const wanted = states ?? (state === undefined ? undefined : oneOf<State>(state, 'state', STATES))
  const whose = tenantIfAny(principal, tenant)
  checkNames(whose, scope, key)
  const matches = (receipt: ReceiptView): boolean =>
    isVisible(receipt) &&
    (q === undefined || receipt.key.includes(q)) &&
    (sinceMs === undefined || receipt.at >= sinceMs) &&
    (untilMs === undefined || receipt.at < untilMs)
  const found: ReceiptView[] = []
  let cursor = unseal(asked['cursor'])
  // The store knows no time and no part of a key: it is asked for no more than there is still room for.
  for (let pages = 0; pages < MOST_PAGES && found.length < limit; pages++) {
    const page = await at.ibid.list({
      tenant: whose,
      scope,
      key,
      state: wanted,
      cursor,
      limit: limit - found.length,
    })
    found.push(...page.receipts.filter(matches))
    cursor = page.cursor
    if (cursor === undefined) break
  }
  return { receipts: found, cursor: seal(cursor) }
}

async function log({ at, principal, query }: ApiRequest) {
  const asked = queryOf(query, [...ADDRESS, 'event', 'since', 'order', 'limit', 'cursor'])
  const { tenant, scope, key, event } = asked
  const whose = tenantIfAny(principal, tenant)
  checkNames(whose, scope, key)
  const since = instantOf(asked['since'], 'since')
  const newestFirst = isNewestFirst(asked['order'])
  const limit = countOf(asked['limit'], 'limit', 100, 1_000)
  const names = event === undefined ? AUDIT_EVENTS : oneOf<AuditName>(event, 'event', AUDIT_EVENTS)
  const found: AuditEvent[] = []
  let cursor = unseal(asked['cursor'])
  // The store knows no names of events: it is asked for no more than there is still room for.
  for (let pages = 0; pages < MOST_PAGES && found.length < limit; pages++) {
    const most = limit - found.length
    const page = await at.ibid.log({ tenant: whose, scope, key, since, newestFirst, cursor, limit: most })
    found.push(...page.events.filter((one) => isVisible(one) && names.includes(one.event)))
    cursor = page.cursor
    if (cursor === undefined || page.events.length < most) break
  }
  return { events: found, cursor: seal(cursor) }
}

async function timeline({ at, principal, query }: ApiRequest) {
  const fields = queryOf(query, ['tenant', 'key'])
  const tenant = tenantOf(principal, fields['tenant'])
  const key = textOf(fields, 'key')
  checkNames(tenant, undefined, key)
  const { receipts } = await at.ibid.list({ tenant, key, limit: 100 })
  const stories = await Promise.all(receipts.map(async (receipt) => await at.ibid.history(receipt)))
  const events: AuditEvent[] = stories.flat().sort((a, b) => a.at - b.at)
  return { receipts: [...receipts].sort((a, b) => a.createdAt - b.createdAt), events }
}

function shown(detail: ReceiptDetail | undefined): object | null {
  if (!detail) return null
  const { value, error, ...receipt } = detail
  if (error) {
    const { code, message, action, data } = error
    return {
      ...receipt,
      error: { code, message, action, ...(data === undefined ? {} : { data: toTagged(data) }) },
    }
  }
  return value === undefined ? receipt : { ...receipt, value: toTagged(value) }
}

function isVisible({ tenant }: { readonly tenant: string }): boolean {
  return !tenant.startsWith(RESERVED)
}

/** What no receipt can be called is not looked for. */
function checkNames(tenant = 'any', scope = 'any', key = 'any'): void {
  checkAddress({ tenant, scope, key })
}

function oneOf<Name extends string>(text: string, field: string, known: readonly Name[]): readonly Name[] {
  const names = text.split(',')
  const strange = names.find((name) => !known.includes(name as Name))
  if (strange === undefined) return names as Name[]
  throw invalidIntent(`${field} has ${JSON.stringify(strange.slice(0, 100))}`, `use ${known.join(', ')}`)
}

function isNewestFirst(order = 'oldest'): boolean {
  if (order === 'oldest' || order === 'newest') return order === 'newest'
  throw invalidIntent(`order is ${JSON.stringify(order.slice(0, 100))}`, 'give order as oldest or newest')
}

function durationOf(text: string): `${number}s` | number {
  return /^\d+$/.test(text) ? Number(text) : (text as `${number}s`)
}

function instantOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,16}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isFinite(ms)) return ms
  throw invalidIntent(
    `${name} is no time`,
    `give ${name} as 2026-01-31T12:00:00Z or as milliseconds since 1970`,
  )
}

/** For the person on call: who am I, what is happening, is the store fit, clean up now, and what this API is. */
import { byLayer, DAY_STEP_MS, RECENT_STEP_MS } from '../decisions.js'
import { objectOf, queryOf } from '../fields.js'
import { operation } from '../operation.js'
import type { ApiRequest, Route } from '../route.js'
import type { Step } from '../series.js'
import { forbidden, tenantIfAny } from '../tenant-of.js'
import { EVERY_TENANT, mayDo, RIGHTS } from '../api-keys.js'

export const OPERATION_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/me',
    right: 'any',
    about: operation({ id: 'me', summary: 'What this key is good for', answers: { 200: 'Me' } }),
    async handle({ at, principal, query }) {
      queryOf(query, [])
      const { keyId, tenant } = principal
      const rights = RIGHTS.filter((right) => mayDo(principal, right))
      return { status: 200, body: { keyId, tenant, rights, version: at.version } }
    },
  },
  {
    method: 'GET',
    path: '/v1/stats',
    right: 'read',
    about: operation({
      id: 'stats',
      summary:
        'Originals and duplicates by layer over time, and how fast the store answers, as this server saw it',
      query: { tenant: 'only with a key for every tenant' },
      answers: { 200: 'Stats' },
    }),
    handle: async (request) => ({ status: 200, body: stats(request) }),
  },
  {
    method: 'GET',
    path: '/v1/check',
    right: 'admin',
    about: operation({
      id: 'check',
      summary: 'Is the store set up so that the promises hold?',
      answers: { 200: 'Check' },
    }),
    async handle(request) {
      ofEveryTenant(request)
      return { status: 200, body: await request.at.ibid.check() }
    },
  },
  {
    method: 'POST',
    path: '/v1/sweep',
    right: 'admin',
    about: operation({
      id: 'sweep',
      summary: 'Sweep lapsed attempts and forget what is over, now instead of within a minute',
      answers: { 200: 'Swept' },
    }),
    async handle(request) {
      ofEveryTenant(request)
      objectOf(request.body, 'the body', [])
      return { status: 200, body: await request.at.ibid.sweep() }
    },
  },
]

/** It is about the store as a whole, so that a key of one tenant has no business there. */
function ofEveryTenant({ principal, query }: ApiRequest): void {
  queryOf(query, [])
  if (principal.tenant !== EVERY_TENANT) throw forbidden('this is about every tenant')
}

function stats({ at, principal, query }: ApiRequest) {
  const tenant = tenantIfAny(principal, queryOf(query, ['tenant'])['tenant'])
  const { recent, day } = at.decisions.overTime(tenant)
  const totals = byLayer(sum(day))
  const originals = Object.values(totals).reduce((all, layer) => all + layer.originals, 0)
  const duplicates = Object.values(totals).reduce((all, layer) => all + layer.duplicates, 0)
  const store = Object.fromEntries(
    [...at.meters.store].map(([verb, histogram]) => [
      verb,
      {
        calls: histogram.count,
        p50Ms: histogram.quantile(0.5),
        p99Ms: histogram.quantile(0.99),
        errors: at.meters.storeErrors.get(verb) ?? 0,
      },
    ]),
  )
  return {
    totals,
    hitRate: originals + duplicates === 0 ? 0 : duplicates / (originals + duplicates),
    recent: { stepMs: RECENT_STEP_MS, steps: recent.map(layered) },
    day: { stepMs: DAY_STEP_MS, steps: day.map(layered) },
    store,
    waiters: at.meters.waiters,
    streams: at.meters.streams,
  }
}

function layered({ at, counts }: Step) {
  return { at, layers: byLayer(counts) }
}

function sum(steps: readonly Step[]): Readonly<Record<string, number>> {
  const all: Record<string, number> = {}
  for (const { counts } of steps) {
    for (const [name, count] of Object.entries(counts)) all[name] = (all[name] ?? 0) + count
  }
  return all
}

/**
 * One request from its first byte to its answer: find the route, admit the key, read the body, do it, say it.
 * No route is reached without a key, and nothing that goes wrong leaves a request without an answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { type Gatekeeper, mayDo } from './api-keys.js'
import { readJson } from './body.js'
import { queryOf } from './fields.js'
import { type Log, shown } from './log.js'
import { openApi } from './openapi.js'
import { operation } from './operation.js'
import { problemAnswer, refusal } from './problem.js'
import type { Answer, Premises, Route } from './route.js'
import { CLAIM_ROUTES } from './routes/claims.js'
import { EVENT_ROUTES } from './routes/events.js'
import { HELD_ROUTES } from './routes/held.js'
import { OPERATION_ROUTES } from './routes/operations.js'
import { RECEIPT_ROUTES } from './routes/receipts.js'
import { forbidden, whoseLimit } from './tenant-of.js'

export interface Api {
  readonly routes: readonly Route[]
  handle(incoming: IncomingMessage, outgoing: ServerResponse, path: string, query: string): Promise<void>
}

export function createApi(at: Premises, gatekeeper: Gatekeeper, log: Log): Api {
  const routes: Route[] = [
    ...CLAIM_ROUTES,
    ...RECEIPT_ROUTES,
    ...HELD_ROUTES,
    ...EVENT_ROUTES,
    ...OPERATION_ROUTES,
    {
      method: 'GET',
      path: '/v1/openapi.json',
      right: 'any',
      about: operation({ id: 'openApi', summary: 'This document', answers: { 200: 'Document' } }),
      async handle({ query }) {
        queryOf(query, [])
        return { status: 200, body: openApi(routes, at.version) }
      },
    },
  ]
  const byPath = new Map<string, Route[]>()
  for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route])

  async function answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    found: readonly Route[],
    query: string,
  ): Promise<Answer | undefined> {
    const { authorization } = incoming.headers
    const admitted = gatekeeper.admit(authorization)
    const principal = admitted instanceof Promise ? await admitted : admitted
    if (!principal) throw unauthenticated()
    const route = found.find(({ method }) => method === incoming.method)
    if (!route) {
      if (found.length === 0)
        throw refusal('NO_ROUTE', 'there is nothing at this path', 'see /v1/openapi.json')
      throw refusal(
        'METHOD_NOT_ALLOWED',
        'this path is there, but not for this method',
        'see /v1/openapi.json',
      )
    }
    if (!mayDo(principal, route.right))
      throw forbidden(`this key has not the right ${JSON.stringify(route.right)}`)
    if (route.method === 'GET') at.limits.spend(whoseLimit(principal), 1)
    const body = route.method === 'POST' ? await readJson(incoming, at.settings.maxBodyBytes) : undefined
    const isStillGood = async (): Promise<boolean> => (await gatekeeper.admit(authorization)) !== undefined
    const asked = { at, principal, isStillGood, query: new URLSearchParams(query), body }
    return await route.handle({ ...asked, incoming, outgoing })
  }

  return {
    routes,
    async handle(incoming, outgoing, path, query) {
      const startMs = performance.now()
      const found = byPath.get(path) ?? []
      let said: Answer | undefined
      try {
        said = await answer(incoming, outgoing, found, query)
      } catch (error) {
        said = problemAnswer(error)
        report(log, path, said, error)
      }
      // What nobody has read would be taken for the next request.
      incoming.resume()
      const route = found.length === 0 ? 'none' : path
      at.meters.requested(route, said?.status ?? 200, performance.now() - startMs)
      if (said) send(outgoing, said, at.stopping.isStopping)
    },
  }
}

function send(outgoing: ServerResponse, { status, body, headers }: Answer, isStopping: boolean): void {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy()
    return
  }
  const bytes = Buffer.from(JSON.stringify(body))
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(isStopping && { connection: 'close' }),
    ...headers,
  })
  outgoing.end(bytes)
}

function report(log: Log, path: string, { status, body }: Answer, error: unknown): void {
  const facts = { path, status, code: (body as { code?: string }).code }
  if (status >= 500) log.error('a request failed', { ...facts, ...shown(error) })
  else if (status === 401 || status === 403 || status === 413 || status === 429)
    log.warn('a request was refused', facts)
}

function unauthenticated(): Error {
  return refusal(
    'UNAUTHENTICATED',
    'no key, or none that is good; nothing was executed',
    'send Authorization: Bearer ibid_… with a key that ibid keys create made',
  )
}

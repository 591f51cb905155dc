/**
 * The gateway over HTTP, as a function from Request to Response: in front of an MCP server somewhere else, or of
 * one's own handler. Everything passes as it came but the calls of tools that write: those are guarded, and seen
 * through when the client lets go of its connection, which is how the newest revision cancels.
 */
import { onlyKnown } from '../../core/known.js'
import { createHash, randomUUID } from 'node:crypto'
import { credentialsIn } from '../../guards/http/credentials.js'
import { createCatalogue, type Catalogue, pageOf } from './catalogue.js'
import { createGuard, GUARD_OPTIONS, type GuardOptions, readCall, type ToolCall } from './guard.js'
import { guardedExchange } from './http-exchange.js'
import { isRedirect, json, partsOf, redirected } from './http-reply.js'
import { httpUpstream, passable, searchOf, type Upstream } from './http-upstream.js'
import {
  CODES,
  isLooseCall,
  type JsonObject,
  notificationOf,
  parse,
  refuse,
  refuseLooseCall,
  type Reply,
  replyOf,
  requestOf,
} from './message.js'
import { askParams, listParams } from './relay.js'

export interface HttpGatewayOptions extends GuardOptions {
  /** The address of the MCP server, or one's own handler. */
  readonly upstream: string | URL | ((request: Request) => Promise<Response>)
  /** On whose behalf. Default: whoever has the same `Authorization` and `X-API-Key`. */
  readonly principal?: (request: Request) => string
}

/** How long a list is believed: there is no stream that would tell of a change. */
const LIST_MS = 60_000
const MOST_LISTS = 1_000
const CHECK_TIMEOUT_MS = 60_000

export function httpGateway(options: HttpGatewayOptions): (request: Request) => Promise<Response> {
  onlyKnown(options, [...GUARD_OPTIONS, 'upstream', 'principal'], 'httpGateway')
  const guard = createGuard(options)
  const upstream = upstreamOf(options.upstream)
  const callerOf = options.principal ?? callerBy
  const principalOf = (request: Request): string => callerOf(request) ?? 'unknown'
  const lists = new Map<string, { readonly catalogue: Catalogue; readonly untilMs: number }>()
  /** Writes under way, by who would cancel them. Without a session, programs with one token may count alike. */
  const underWay = new Map<string, Set<{ withdrawn: boolean }>>()

  function catalogueFor(principal: string): Catalogue {
    const kept = lists.get(principal)
    if (kept && performance.now() < kept.untilMs) return kept.catalogue
    if (lists.size >= MOST_LISTS) lists.clear()
    const catalogue = createCatalogue()
    lists.set(principal, { catalogue, untilMs: performance.now() + LIST_MS })
    return catalogue
  }

  /** A question of the gateway's own, in the name of the client whose call it is about. */
  async function question(
    request: Request,
    method: string,
    params: JsonObject,
    signal?: AbortSignal,
  ): Promise<Reply | undefined> {
    const headers = passable(request.headers)
    for (const name of passable(headers).keys()) if (/^mcp-(name|param-)/.test(name)) headers.delete(name)
    if (headers.has('mcp-method')) {
      headers.set('mcp-method', method)
      if (typeof params['name'] === 'string') headers.set('mcp-name', params['name'])
    }
    const asked = { jsonrpc: '2.0', id: `ibid:${randomUUID()}`, method, params }
    const response = await upstream({
      method: 'POST',
      headers,
      search: searchOf(request),
      body: JSON.stringify(asked),
      ...(signal && { signal }),
    })
    if (!response.ok || !response.body) return undefined
    for await (const { data } of partsOf(response)) {
      const replied = replyOf(parse(data))
      if (replied?.id === asked.id) return replied.reply
    }
    return undefined
  }

  async function askList(
    request: Request,
    meta: JsonObject,
    cursor: string | undefined,
  ): Promise<JsonObject | undefined> {
    return pageOf(await question(request, 'tools/list', listParams(meta, cursor)))
  }

  async function askTool(request: Request, meta: JsonObject, tool: string, args: JsonObject): Promise<Reply> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
    const reply = await question(request, 'tools/call', askParams(meta, tool, args), signal)
    if (!reply) throw new TypeError('the upstream did not answer the status check')
    return reply
  }

  async function call(
    request: Request,
    body: string,
    message: JsonObject,
    read: ReturnType<typeof readCall>,
  ) {
    const { id = null, params } = requestOf(message) ?? {}
    if (!read || id === null || !params) return await passOn(request, body, request.signal)
    const principal = principalOf(request)
    const listed = guard.wantsListing(read.name)
      ? await catalogueFor(principal).find(
          read.name,
          async (cursor) => await askList(request, read.meta, cursor),
        )
      : undefined
    const place = placeOf(request, principal, id)
    if (underWay.has(place) && request.headers.has('mcp-session-id')) {
      return json(
        refuse(id, CODES.request, `request ${JSON.stringify(id)} is still under way; nothing was sent`),
        400,
      )
    }
    const state = { withdrawn: false }
    const toolCall: ToolCall = {
      ...read,
      principal,
      listed,
      isWithdrawn: () => state.withdrawn || request.signal.aborted,
    }
    const treatment = guard.treatmentOf(toolCall)
    if (treatment === 'read') return await passOn(request, body, request.signal)
    if (treatment === 'direct') return await passOn(request, body)
    if (callerOf(request) === undefined) return json(refuse(id, CODES.request, ONLY_COOKIE), 403)
    const alike = underWay.get(place) ?? new Set()
    underWay.set(place, alike.add(state))
    const { response, done } = guardedExchange({
      guard,
      upstream,
      request,
      message,
      id,
      params,
      toolCall,
      ask: (tool, args) => askTool(request, read.meta, tool, args),
    })
    void done.finally(() => {
      if (alike.delete(state) && alike.size === 0) underWay.delete(place)
    })
    return await response
  }

  async function passOn(request: Request, body: string | undefined, signal?: AbortSignal): Promise<Response> {
    const { method, headers } = request
    const response = await upstream({
      method,
      headers,
      search: searchOf(request),
      ...(body === undefined ? {} : { body }),
      ...(signal && { signal }),
    })
    return isRedirect(response) ? redirected() : response
  }

  async function handle(request: Request): Promise<Response> {
    if (request.method !== 'POST') return await passOn(request, undefined, request.signal)
    const body = await request.text()
    const message = parse(body)
    if (isLooseCall(message)) return json(refuseLooseCall(), 400)
    const asked = requestOf(message)
    if (asked?.method === 'tools/call')
      return await call(request, body, message as JsonObject, readCall(asked.params))
    const notice = notificationOf(message)
    const cancelled =
      notice?.method === 'notifications/cancelled' &&
      underWay.get(placeOf(request, principalOf(request), notice.params['requestId']))
    if (!cancelled) return await passOn(request, body, request.signal)
    // Of several nobody can tell which one is meant: they are seen through.
    if (cancelled.size === 1) for (const state of cancelled) state.withdrawn = true
    return new Response(null, { status: 202 })
  }

  return async (request) => {
    try {
      return await handle(request)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return json(refuse(null, CODES.upstream, `the upstream did not answer: ${reason}`), 502)
    }
  }
}

/** Ids are only unique inside one session of one client. */
function placeOf(request: Request, principal: string, id: unknown): string {
  return JSON.stringify([principal, request.headers.get('mcp-session-id'), id])
}

/** Undefined: nothing but cookies says who it is. */
function callerBy({ headers }: Request): string | undefined {
  const given = credentialsIn((name) => headers.get(name))
  if (given === null) return 'anonymous'
  return given && createHash('sha256').update(given).digest('base64url')
}

const ONLY_COOKIE =
  'a cookie does not tell whose call this is; nothing was sent. ' +
  'Send Authorization or X-API-Key, or name the caller in httpGateway({ principal })'

function upstreamOf(given: HttpGatewayOptions['upstream']): Upstream {
  if (typeof given !== 'function') return httpUpstream(given)
  return async ({ method, headers, body, signal, search }) =>
    await given(
      new Request(`http://upstream.invalid/${search}`, {
        method,
        headers: passable(headers),
        ...(body === undefined ? {} : { body }),
        ...(signal && { signal }),
      }),
    )
}

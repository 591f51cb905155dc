/**
 * The MCP gateway at /mcp: behind an API key, in front of one configured MCP server. The key says whose calls
 * these are; it stays here. A client that needs `Authorization` for the MCP server itself gives its key in
 * `X-Ibid-Key` instead.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpGateway } from '../adapters/mcp.js'
import { sendResponse } from '../guards/http/send-response.js'
import { EVERY_TENANT, type Gatekeeper, mayDo, type Principal } from './api-keys.js'
import { readBytes } from './body.js'
import { endWithKey } from './end-with-key.js'
import { type Log, shown } from './log.js'
import { problemAnswer, refusal } from './problem.js'
import type { Premises } from './route.js'
import { forbidden } from './tenant-of.js'

export type McpHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const MOST_TENANTS = 1_000

export function createMcp(at: Premises, gatekeeper: Gatekeeper, upstream: string, log: Log): McpHandler {
  const gateways = new Map<string, ReturnType<typeof httpGateway>>()
  const principals = new WeakMap<Request, string>()

  function gatewayFor(tenant: string): ReturnType<typeof httpGateway> {
    const kept = gateways.get(tenant)
    if (kept) return kept
    if (gateways.size >= MOST_TENANTS) gateways.clear()
    const made = httpGateway({
      ibid: at.ibid,
      tenant,
      server: new URL(upstream).host,
      upstream,
      principal: (request) => principals.get(request) ?? 'nobody',
    })
    gateways.set(tenant, made)
    return made
  }

  async function ask({ headers }: IncomingMessage): Promise<Principal | undefined> {
    const own = headers['x-ibid-key']
    return await gatekeeper.admit(typeof own === 'string' ? `Bearer ${own}` : headers.authorization)
  }

  async function admit(incoming: IncomingMessage): Promise<Principal> {
    const principal = await ask(incoming)
    if (!principal)
      throw refusal('UNAUTHENTICATED', 'no key, or none that is good', 'send a key of this server')
    if (!mayDo(principal, 'write')) throw forbidden('this key has not the right "write"')
    if (principal.tenant === EVERY_TENANT) throw forbidden('tool calls are of one tenant')
    at.limits.spend(principal.tenant, 1)
    return principal
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { keyId, tenant } = await admit(incoming)
    const left = new AbortController()
    outgoing.on('close', () => left.abort())
    const request = await requestOf(incoming, left.signal, at.settings.maxBodyBytes)
    principals.set(request, keyId)
    // What was asked for under a good key is answered; what a server may say of itself, at any time, is not.
    if (incoming.method === 'GET')
      endWithKey(
        outgoing,
        async () => (await ask(incoming)) !== undefined,
        () => outgoing.destroy(),
      )
    await sendResponse(outgoing, await gatewayFor(tenant)(request))
  }

  return (incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => {
      incoming.resume()
      const { status, body, headers } = problemAnswer(error)
      if (status >= 500) log.error('a tool call failed', shown(error))
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(status, headers).end(JSON.stringify(body))
    })
  }
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal, maxBytes: number): Promise<Request> {
  const { method = 'GET', url = '/' } = incoming
  const hasOwn = incoming.headers['x-ibid-key'] !== undefined
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (name === 'x-ibid-key' || (name === 'authorization' && !hasOwn)) continue
    for (const value of values ?? []) headers.append(name, value)
  }
  const body = method === 'GET' || method === 'HEAD' ? undefined : await readBytes(incoming, maxBytes)
  const { search } = new URL(url, 'http://localhost')
  return new Request(`http://localhost/${search}`, {
    method,
    headers,
    signal,
    ...(body && { body: new Uint8Array(body) }),
  })
}

/**
 * The modes that need no code in anybody's program: the proxy on a port of its own, webhooks and MCP beside the
 * API.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { invalidIntent } from '../core/errors.js'
import type { Gatekeeper } from './api-keys.js'
import { createHook, type Hook } from './ingress.js'
import type { Log } from './log.js'
import { createMcp } from './mcp.js'
import { createProxy } from './proxy.js'
import type { Premises } from './route.js'

export interface Modes {
  readonly proxy: RequestListener | undefined
  /** False: not for any of them. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse, path: string): boolean
  close(): void
}

export function createModes(at: Premises, gatekeeper: Gatekeeper, log: Log): Modes {
  const { ibid, settings } = at
  const { upstream, mcpUpstream } = settings
  const proxy = upstream === undefined ? undefined : createProxy(ibid, upstream, settings, log)
  const mcp = mcpUpstream === undefined ? undefined : createMcp(at, gatekeeper, mcpUpstream, log)
  const hooks = new Map<string, Hook>()
  for (const given of settings.webhooks) {
    const hook = createHook(ibid, given, log, at.stopping)
    if (hooks.has(hook.path))
      throw invalidIntent(`two webhooks are called ${hook.path}`, 'give each a name of its own')
    hooks.set(hook.path, hook)
  }
  return {
    proxy: proxy?.listener,
    handle(incoming, outgoing, path) {
      if (mcp && path === '/mcp') mcp(incoming, outgoing)
      else {
        const hook = hooks.get(path)
        if (!hook) return false
        hook.listener(incoming, outgoing)
      }
      return true
    },
    close() {
      proxy?.close()
      for (const hook of hooks.values()) hook.close()
    },
  }
}

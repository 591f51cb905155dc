/**
 * One's own MCP server, guarded: a transport of the SDK, of either generation, with the relay in between. The
 * server connects to it as to the transport inside; a call that was done before does not reach it.
 */
import { onlyKnown } from '../../core/known.js'
import { quietly } from '../../core/quietly.js'
import { createGuard, GUARD_OPTIONS, type GuardOptions } from './guard.js'
import type { JsonObject } from './message.js'
import { createRelay } from './relay.js'

/** What both generations of the SDK call a transport, as far as it matters here. */
export interface McpTransport {
  send(message: never, options?: never): Promise<void>
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
}

export interface GuardTransportOptions extends GuardOptions {
  /** On whose behalf a message came; `extra` is what the SDK hands over with it. Default: its `authInfo.clientId`. */
  readonly principal?: (extra: unknown) => string
}

type Receive = (message: unknown, extra?: unknown) => void
type Send = (message: unknown, options?: unknown) => Promise<void>

export function guardTransport<T extends McpTransport>(transport: T, options: GuardTransportOptions): T {
  onlyKnown(options, [...GUARD_OPTIONS, 'principal'], 'guardTransport')
  const guard = createGuard(options)
  const principalOf = options.principal ?? clientOf
  const sendInside = transport.send.bind(transport) as Send
  let receive: Receive | undefined
  let closed: (() => void) | undefined
  const relay = createRelay<unknown>(guard, {
    // A client that is gone cannot be told; the receipt has it.
    toClient: (message) => void sendInside(message).catch(() => undefined),
    toUpstream: (message, extra) => receive?.(message, extra),
    pass: (message, extra) => receive?.(message, extra),
  })

  async function send(message: JsonObject, sendOptions?: unknown): Promise<void> {
    if (!relay.takesFromUpstream(message)) await sendInside(message, sendOptions)
  }

  function listen(): void {
    Object.assign(transport, {
      onmessage(message: unknown, extra: unknown) {
        if (!relay.takesFromClient(message, extra, principalOf(extra))) receive?.(message, extra)
      },
      // The server stops what it is doing when it hears of this: not before its writes are written down.
      onclose: () => void relay.idle().then(() => quietly(() => closed?.())),
    })
  }

  return new Proxy(transport, {
    get(target, name) {
      if (name === 'send') return send
      if (name === 'onmessage') return receive
      if (name === 'onclose') return closed
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set(target, name, value) {
      if (name === 'onmessage') receive = value as Receive
      else if (name === 'onclose') closed = value as () => void
      else return Reflect.set(target, name, value, target)
      listen()
      return true
    },
  })
}

function clientOf(extra: unknown): string {
  const { authInfo } = (extra ?? {}) as { readonly authInfo?: { readonly clientId?: unknown } }
  return typeof authInfo?.clientId === 'string' && authInfo.clientId !== '' ? authInfo.clientId : 'local'
}

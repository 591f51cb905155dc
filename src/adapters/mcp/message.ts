/** JSON-RPC as it crosses a wire: anything may come, so everything is looked at before it is believed. */

export type JsonObject = { readonly [name: string]: unknown }
export type Id = string | number

export interface Request {
  readonly id: Id
  readonly method: string
  readonly params: JsonObject
}

/** What a call came to: a result, or an error of the protocol. */
export type Reply = { readonly result: JsonObject } | { readonly error: JsonObject }

/** Error codes of JSON-RPC that the gateway itself gives. */
export const CODES = { request: -32_600, params: -32_602, upstream: -32_000 } as const

/** What a server answers that does not know the method. */
export const NO_METHOD = -32_601

/**
 * Error codes that are given before a request is carried out: JSON-RPC's own four, and MCP's for headers that do
 * not fit, a missing capability, an unknown version, and a page that the user has to visit first.
 */
export const NOT_CARRIED_OUT: ReadonlySet<unknown> = new Set([
  -32_700,
  -32_600,
  NO_METHOD,
  -32_602,
  -32_020,
  -32_021,
  -32_022,
  -32_042,
])

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export function requestOf(message: unknown): Request | undefined {
  if (!isObject(message) || typeof message['method'] !== 'string' || !isId(message['id'])) return undefined
  return { id: message['id'], method: message['method'], params: objectOf(message['params']) }
}

export function notificationOf(message: unknown): Omit<Request, 'id'> | undefined {
  if (!isObject(message) || typeof message['method'] !== 'string' || 'id' in message) return undefined
  return { method: message['method'], params: objectOf(message['params']) }
}

export function replyOf(message: unknown): { readonly id: Id; readonly reply: Reply } | undefined {
  if (!isObject(message) || 'method' in message || !isId(message['id'])) return undefined
  const { id, result, error } = message as {
    readonly id: Id
    readonly result?: unknown
    readonly error?: unknown
  }
  if (isObject(error)) return { id, reply: { error } }
  return isObject(result) ? { id, reply: { result } } : undefined
}

/**
 * A call of a tool in a form that cannot be guarded: in a batch, as an old revision allowed, or without an id to
 * answer to. Nothing of it is passed on.
 */
export function isLooseCall(message: unknown): boolean {
  if (Array.isArray(message)) return message.some((one) => isCall(one) || isLooseCall(one))
  return isCall(message) && requestOf(message) === undefined
}

function isCall(message: unknown): boolean {
  return isObject(message) && message['method'] === 'tools/call'
}

export function refuseLooseCall(): JsonObject {
  return refuse(null, CODES.request, 'calls of tools are taken one by one, each with an id; nothing was sent')
}

export function answer(id: Id, reply: Reply): JsonObject {
  return { jsonrpc: '2.0', id, ...reply }
}

export function refuse(id: Id | null, code: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** What says of an object that it is the result of a call, in any revision. */
const OF_RESULTS = ['content', 'structuredContent', 'isError', 'resultType', 'task', 'toolResult', '_meta']

/** A person who ended a held call, or a status tool, may have said anything: what is no result is what one shows. */
export function resultOf(value: unknown): JsonObject {
  if (isObject(value) && OF_RESULTS.some((name) => name in value)) return value
  return resultShowing(value)
}

export function resultShowing(value: unknown): JsonObject {
  const text = JSON.stringify(value ?? null, (_, one: unknown) =>
    typeof one === 'bigint' ? String(one) : one,
  )
  const shown = parse(text)
  return { content: [{ type: 'text', text }], ...(isObject(shown) ? { structuredContent: shown } : {}) }
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number'
}

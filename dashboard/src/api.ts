/**
 * The API of this server, asked with the key of this tab. An answer that is no success is data, not an
 * exception: every place that asks has to say what went wrong. Times are compared with the server's clock,
 * as its answers tell it.
 */
export interface Problem {
  /** 0: there was no answer at all. */
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly action: string
}

export type Said<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem }

export interface Api {
  get<T>(path: string): Promise<Said<T>>
  post<T>(path: string, body: unknown): Promise<Said<T>>
  /** For what is read as it comes. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>
  /** Milliseconds since 1970 by the server's clock, to the second or so. */
  now(): number
}

const UNREACHED: Problem = {
  status: 0,
  code: 'NO_ANSWER',
  detail: 'the server does not answer',
  action: 'this page tries again by itself; see whether ibid serve is running',
}

export function createApi(key: string, onRefused: () => void = () => {}): Api {
  let aheadMs = 0

  async function open(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${key}` }
    const response = await fetch(path, { ...init, headers, cache: 'no-store', credentials: 'omit' })
    const date = Date.parse(response.headers.get('date') ?? '')
    // The header knows whole seconds: only a clock that is really off is corrected.
    if (Number.isFinite(date)) aheadMs = Math.abs(date - Date.now()) > 2_000 ? date - Date.now() : 0
    if (response.status === 401) onRefused()
    return response
  }

  async function ask<T>(path: string, init: RequestInit): Promise<Said<T>> {
    try {
      const response = await open(path, init)
      const body: unknown = await response.json()
      return response.ok ? { ok: true, value: body as T } : { ok: false, problem: problemOf(response, body) }
    } catch {
      return { ok: false, problem: UNREACHED }
    }
  }

  return {
    get: (path) => ask(path, {}),
    post: (path, body) =>
      ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    open: (path, headers, signal) => open(path, { headers, signal }),
    now: () => Date.now() + aheadMs,
  }
}

function problemOf({ status }: Response, body: unknown): Problem {
  const { code, detail, action } = (body ?? {}) as Partial<Problem>
  return {
    status,
    code: code ?? `HTTP_${status}`,
    detail: detail ?? 'the server answered with an error',
    action: action ?? 'see the log of the server',
  }
}

/** A path with its query; what is empty is left out. */
export function pathTo(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

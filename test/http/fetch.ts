/** The guard over Fetch, on a memory store, in this process: for what needs no socket. */
import { afterEach } from 'vitest'
import { idempotent, type HttpOptions, type Next } from '../../src/guards/http/index.js'
import { createIbid, type Ibid, type IbidOptions } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory/index.js'

const opened: Ibid[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((ibid) => ibid.close()))
})

export function openIbid(options: Partial<IbidOptions> = {}): Ibid {
  const ibid = createIbid({ store: memoryStore(), tenant: 'acme', housekeeping: false, ...options })
  opened.push(ibid)
  return ibid
}

export interface Guarded {
  readonly ibid: Ibid
  /** How often the handler ran. */
  readonly runs: () => number
  post(key: string | undefined, init?: RequestInit, path?: string): Promise<Response>
}

/** A guard, and a handler that counts. */
export function guarded(
  options: HttpOptions = {},
  handle: Next = () => Response.json({ id: 1 }, { status: 201 }),
  ibid: Ibid = openIbid(),
): Guarded {
  const guard = idempotent(ibid, options)
  let runs = 0
  const next: Next = (request, attempt) => {
    runs++
    return handle(request, attempt)
  }
  return {
    ibid,
    runs: () => runs,
    post(key, init = {}, path = '/refunds') {
      const request = new Request(`http://bank${path}`, { method: 'POST', body: '{"amount":1}', ...init })
      if (key !== undefined) request.headers.set('idempotency-key', key)
      return guard(request, next)
    },
  }
}

export const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { readonly code?: unknown }).code

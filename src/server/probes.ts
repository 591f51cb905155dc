/**
 * What machines ask: is it alive, may it get requests, and its metrics. The first two say nothing but yes or
 * no. Metrics are of every tenant, so on this port they take a key that is for every tenant; on a port of their
 * own they take none.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { EVERY_TENANT, type Gatekeeper, mayDo } from './api-keys.js'
import { prometheus } from './prometheus.js'
import { problemAnswer, refusal } from './problem.js'
import type { Premises } from './route.js'

export interface Probes {
  serves(path: string): boolean
  handle(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void>
  /** A port with nothing else. */
  readonly metricsOnly: RequestListener
}

const PATHS = new Set(['/healthz', '/readyz', '/metrics'])
/** A store that was fit a moment ago is not asked again: probes come from everywhere. */
const FRESH_MS = 2_000
const MOST_HELD = 1_000

export function createProbes(at: Premises, gatekeeper: Gatekeeper): Probes {
  const isFit = remembered(async () => {
    const { findings } = await at.ibid.check()
    return findings.every(({ level }) => level !== 'error')
  }, false)
  const heldCount = remembered(async () => {
    const { receipts } = await at.ibid.list({ state: 'unknown', limit: MOST_HELD })
    return receipts.length
  }, Number.NaN)

  async function isReady(): Promise<boolean> {
    return !at.stopping.isStopping && (await isFit())
  }

  async function sendMetrics(outgoing: ServerResponse): Promise<void> {
    const text = prometheus(at.decisions, at.meters, { held: await heldCount(), isReady: await isReady() })
    outgoing.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void> {
    incoming.resume()
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') say(outgoing, 405)
    else if (path === '/healthz') say(outgoing, 200)
    else if (path === '/readyz') say(outgoing, (await isReady()) ? 200 : 503)
    else {
      const principal = await gatekeeper.admit(incoming.headers.authorization)
      if (principal && principal.tenant === EVERY_TENANT && mayDo(principal, 'read'))
        return await sendMetrics(outgoing)
      const code = principal ? 'FORBIDDEN' : 'UNAUTHENTICATED'
      const { status, body, headers } = problemAnswer(
        refusal(
          code,
          'metrics are of every tenant',
          "use a key of tenant '*' with the right read, or metricsPort",
        ),
      )
      outgoing.writeHead(status, headers).end(JSON.stringify(body))
    }
  }

  return {
    serves: (path) => PATHS.has(path),
    handle,
    metricsOnly(incoming, outgoing) {
      incoming.resume()
      if (incoming.url === '/metrics') sendMetrics(outgoing).catch(() => outgoing.destroy())
      else say(outgoing, 404)
    },
  }
}

function say(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain', 'cache-control': 'no-store' })
  outgoing.end(status === 200 ? 'ok\n' : 'no\n')
}

/** The last answer while it is fresh; `otherwise` where there is none. One question at a time. */
function remembered<T>(ask: () => Promise<T>, otherwise: T): () => Promise<T> {
  let last: { readonly value: T; readonly untilMs: number } | undefined
  let asking: Promise<T> | undefined
  return async () => {
    if (last && performance.now() < last.untilMs) return last.value
    asking ??= ask()
      .catch(() => otherwise)
      .then((value) => {
        last = { value, untilMs: performance.now() + FRESH_MS }
        asking = undefined
        return value
      })
    return await asking
  }
}

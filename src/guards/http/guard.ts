/**
 * The guard itself, without any framework: opens an exchange, and says whether to let it pass, what to answer at once,
 * or that this request is the one that runs. Whoever runs it reports how that ended, and is told what to send.
 */
import { IbidError } from '../../core/errors.js'
import type { Attempt } from '../../core/policy.js'
import type { Ibid } from '../../ibid.js'
import { deriveKey } from '../../key/index.js'
import { announce } from './attempts.js'
import { keptByCheck } from './checked-policy.js'
import type { Answer, Exchange } from './exchange.js'
import { scopeOf, tenantOf } from './intent.js'
import { type Kept, replayOf } from './kept.js'
import { missingKey, readKey } from './key-header.js'
import { type HttpOptions, readOptions } from './options.js'
import { problemOf } from './problem.js'
import { requestText } from './request-text.js'
import { type Run, type Running, startRun } from './run.js'
import { showStatus, statusUrl } from './status-resource.js'

/** Undefined: not for the guard, let it pass. */
export type Opening = Run | { readonly kind: 'answer'; readonly answer: Answer } | undefined

export interface Guard<R> {
  readonly maxRequestBytes: number
  /** Rejects only with what a resolver of the program threw. */
  open(exchange: Exchange<R>): Promise<Opening>
}

interface HttpIntent {
  readonly tenant: string | undefined
  readonly scope: string
  readonly key: string
  readonly payload: string
}

/** By definition of HTTP these ask for nothing to be done. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

export function isSafe(method: string): boolean {
  return SAFE.has(method)
}

export function createGuard<R extends object>(ibid: Ibid, options: HttpOptions<R> = {}): Guard<R> {
  const settings = readOptions(options)
  const policy = keptByCheck(settings.policy, settings.allowed, settings.maxResponseBytes)

  async function open(exchange: Exchange<R>): Promise<Opening> {
    try {
      if (!isSafe(exchange.method)) return await openWrite(exchange)
      if (exchange.path !== settings.statusPath || exchange.method !== 'GET') return undefined
      const tenant = await tenantOf(exchange.request, settings)
      return { kind: 'answer', answer: await showStatus(ibid, exchange.query, tenant) }
    } catch (error) {
      if (error instanceof IbidError) return refused(error)
      throw error
    }
  }

  async function openWrite(exchange: Exchange<R>): Promise<Opening> {
    const { request } = exchange
    let key = readKey(exchange, settings.places)
    if (key === undefined) {
      const required =
        typeof settings.required === 'function' ? settings.required(request) : settings.required
      if (required === false) return undefined
      if (required === true) throw missingKey(settings.places)
    }
    const whose = tenantOf(request, settings)
    const tenant = whose instanceof Promise ? await whose : whose
    const sent = exchange.body()
    const payload = requestText(exchange, sent instanceof Promise ? await sent : sent, settings)
    const scope = scopeOf(exchange, settings)
    key ??= deriveKey({ tenant: tenant ?? 'single tenant', layer: 'http', scope }, payload)
    return begin({ tenant, scope, key, payload }, request)
  }

  function begin(intent: HttpIntent, request: R): Promise<Opening> {
    return new Promise((resolve, reject) => {
      let running: Running | undefined
      function effect(attempt: Attempt): Promise<Kept> {
        running = startRun(attempt, settings, problem)
        announce(request, running.run)
        resolve(running.run)
        return running.ended
      }
      ibid.once(intent, effect, policy).then(
        ({ value, receipt }) => {
          if (running) running.settled(value)
          else resolve({ kind: 'answer', answer: replayOf(value, receipt, problem) })
        },
        (error: unknown) => {
          if (running) running.refused(error)
          else if (error instanceof IbidError) resolve(refused(error))
          else reject(error)
        },
      )
    })
  }

  function refused(error: IbidError): Opening {
    return { kind: 'answer', answer: problem(error) }
  }

  function problem(error: IbidError): Answer {
    const { statusPath } = settings
    const url = statusPath && error.receipt ? statusUrl(statusPath, error.receipt) : undefined
    return problemOf(error, url)
  }

  return { maxRequestBytes: settings.maxRequestBytes, open }
}

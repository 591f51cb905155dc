/**
 * The guard itself, without any framework: opens an exchange, and says whether to let it pass, what to answer at once,
 * or that this request is the one that runs. Whoever runs it reports how that ended, and is told what to send.
 */
import { IbidError, invalidIntent } from '../../core/errors.js'
import type { Attempt } from '../../core/policy.js'
import type { ReceiptView } from '../../core/receipt.js'
import type { Ibid } from '../../ibid.js'
import { deriveKey } from '../../key/index.js'
import { announce } from './attempts.js'
import { keptByCheck } from './checked-policy.js'
import type { Answer, Body, Exchange } from './exchange.js'
import { scopeOf, tenantOf } from './intent.js'
import { type Kept, replayOf } from './kept.js'
import { missingKey, readKey } from './key-header.js'
import { checkedRequirement, type HttpOptions, readOptions } from './options.js'
import { problemOf } from './problem.js'
import { requestText } from './request-text.js'
import { type Run, type Running, startRun } from './run.js'
import { showStatus, statusUrl } from './status-resource.js'

/** Undefined: not for the guard, let it pass. */
export type Opening = Run | { readonly kind: 'answer'; readonly answer: Answer } | undefined

export interface Guard<R> {
  readonly maxRequestBytes: number
  /** Waits only where it has to. Rejects only with what a resolver of the program threw. */
  open(exchange: Exchange<R>): Opening | Promise<Opening>
}

/**
 * For adapters that are given callbacks: goes on at once where nothing has to be waited for. What `goOn` throws is
 * told to `failed`: behind a promise nobody else would hear of it, and the process would end.
 */
export function whenOpen(
  opening: Opening | Promise<Opening>,
  goOn: (opening: Opening) => void,
  failed: (error: Error) => void,
): void {
  if (opening instanceof Promise) opening.then((opened) => proceed(opened, goOn, failed), failed)
  else proceed(opening, goOn, failed)
}

function proceed(opening: Opening, goOn: (opening: Opening) => void, failed: (error: Error) => void): void {
  try {
    goOn(opening)
  } catch (error) {
    failed(error as Error)
  }
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
  if (settings.tenant === undefined && ibid.tenant === undefined) {
    throw invalidIntent(
      'the HTTP guard got no tenant, so that callers would get the responses of others',
      'give tenant: (request) => …, or name the single tenant in createIbid({ tenant })',
    )
  }
  const policy = keptByCheck(settings.policy, settings.allowed, settings.maxResponseBytes)

  function open(exchange: Exchange<R>): Opening | Promise<Opening> {
    try {
      if (!isSafe(exchange.method)) return openWrite(exchange)
      if (exchange.path !== settings.statusPath || exchange.method !== 'GET') return undefined
      return openStatus(exchange).catch(refusal)
    } catch (error) {
      return refusal(error)
    }
  }

  async function openStatus({ request, query }: Exchange<R>): Promise<Opening> {
    return { kind: 'answer', answer: await showStatus(ibid, query, await tenantOf(request, settings)) }
  }

  /** Nothing is awaited where everything is at hand: a replay is a matter of microseconds. */
  function openWrite(exchange: Exchange<R>): Opening | Promise<Opening> {
    const { request } = exchange
    const key = readKey(exchange, settings.places)
    if (key === undefined) {
      const { required: asked } = settings
      const required = typeof asked === 'function' ? checkedRequirement(asked(request)) : asked
      if (required === false) return undefined
      if (required === true) throw missingKey(settings.places)
    }
    const tenant = tenantOf(request, settings)
    if (tenant instanceof Promise) {
      return tenant.then(async (name) => begin(exchange, key, name, await exchange.body())).catch(refusal)
    }
    const body = exchange.body()
    if (!(body instanceof Promise)) return begin(exchange, key, tenant, body)
    return body.then((bytes) => begin(exchange, key, tenant, bytes)).catch(refusal)
  }

  function begin(
    exchange: Exchange<R>,
    brought: string | undefined,
    tenant: string | undefined,
    body: Body,
  ): Opening | Promise<Opening> {
    const payload = requestText(exchange, body, settings)
    const scope = scopeOf(exchange, settings)
    const key = brought ?? deriveKey({ tenant: tenant ?? 'single tenant', layer: 'http', scope }, payload)
    const intent = { tenant, scope, key, payload }
    const known = ibid.recall(intent)
    return known ? replayed(known) : start(intent, exchange.request)
  }

  function start(intent: HttpIntent, request: R): Promise<Opening> {
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
          if (running) running.settled(value, receipt)
          else resolve(replayed({ value, receipt }))
        },
        (error: unknown) => {
          if (running) running.refused(error)
          else if (error instanceof IbidError) resolve(refused(error))
          else reject(error)
        },
      )
    })
  }

  function replayed(known: { readonly value: unknown; readonly receipt: ReceiptView }): Opening {
    return { kind: 'answer', answer: replayOf(known.value, known.receipt, problem) }
  }

  function refused(error: IbidError): Opening {
    return { kind: 'answer', answer: problem(error) }
  }

  async function refusal(error: unknown): Promise<Opening> {
    if (error instanceof IbidError) return refused(error)
    throw error
  }

  function problem(error: IbidError): Answer {
    const { statusPath } = settings
    const url = statusPath && error.receipt ? statusUrl(statusPath, error.receipt) : undefined
    return problemOf(error, url)
  }

  return { maxRequestBytes: settings.maxRequestBytes, open }
}

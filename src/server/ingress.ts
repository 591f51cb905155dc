/**
 * The webhook ingress: believes a delivery only when it is signed, forwards each event to its target with a key, and
 * tries again until the target has taken it. The vendor's own redeliveries are the queue: until the target has
 * answered, none of them is told that all is well, and after a crash or a stop the next one takes over.
 */
import type { RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { toMs } from '../core/duration.js'
import { invalidIntent, Rejected } from '../core/errors.js'
import type { Attempt } from '../core/policy.js'
import {
  github,
  hmac,
  type HmacOptions,
  nodeHandler,
  shopify,
  slack,
  type Source,
  standardWebhooks,
  stripe,
  webhook,
  type WebhookEvent,
} from '../guards/webhook/index.js'
import { handOff } from '../guards/webhook/handoff.js'
import type { Ibid } from '../ibid.js'
import { type Fields, objectOf, textIfGiven, textOf } from './fields.js'
import { headOf, type Origin, originOf, passable } from './forward.js'
import type { Log } from './log.js'
import { createStopping, type Stopping } from './stopping.js'

export interface Hook {
  /** Where the vendor sends to. */
  readonly path: string
  readonly listener: RequestListener
  close(): void
}

const KNOWN = [
  'name',
  'source',
  'secret',
  'secretEnv',
  'target',
  'tenant',
  'lease',
  'keepTrying',
  'tryFor',
  'options',
]
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000
/** What the target will never take: the event is settled as refused, and the vendor stops. */
const FOR_GOOD = new Set([410, 422])
/** Beside ours a target would read two keys as one, and an attempt that nobody made. The answer is read by us. */
const NOT_THEIRS = new Set([
  'accept-encoding',
  'ibid-attempt',
  'ibid-epoch',
  'ibid-event-id',
  'idempotency-key',
  'x-idempotency-key',
])

export function createHook(
  ibid: Ibid,
  given: Fields,
  log: Log,
  stopping: Stopping = createStopping(),
  env: NodeJS.ProcessEnv = process.env,
): Hook {
  const name = textOf(given, 'name')
  const field = `webhooks.${name}`
  objectOf(given, field, KNOWN)
  if (!NAME.test(name))
    throw invalidIntent(`${field}: name is not lower case letters, digits and hyphens`, 'rename it')
  const url = textOf(given, 'target')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalidIntent(
      `${field}: target is no http or https URL`,
      'give target the address that takes the events',
    )
  }
  const origin = originOf(url)
  const tryMs = toMs((given['tryFor'] ?? '30s') as number, `${field}: tryFor`)
  const target: Target = { origin, tryMs, stopping, log }
  const hook = webhook(ibid, {
    source: sourceOf(given, field, env),
    endpoint: name,
    tenant: textIfGiven(given, 'tenant') ?? 'webhooks',
    recovery: 'retry',
    maxAttempts: 1_000_000,
    lease: toMs((given['lease'] ?? '30s') as number, `${field}: lease`),
    timeout: toMs((given['keepTrying'] ?? '10m') as number, `${field}: keepTrying`),
    handle: async (event, attempt) => await deliver(target, event, attempt),
    onRefused: (reason) => log.warn('a webhook was refused', { name, reason }),
    onError: (error) => log.warn('a webhook is not delivered', { name, error: String(error) }),
  })
  return { path: `/hooks/${name}`, listener: nodeHandler(hook), close: () => origin.close() }
}

interface Target {
  readonly origin: Origin
  readonly tryMs: number
  readonly stopping: Stopping
  readonly log: Log
}

/**
 * Ends when the target has taken it or refused it for good, when the attempt's time is up, or when the server stops:
 * then it is an attempt that failed, and the vendor's next delivery is the next one.
 */
async function deliver(target: Target, event: WebhookEvent, attempt: Attempt): Promise<void> {
  const { origin, stopping, log } = target
  const { signal } = attempt
  const over = new AbortController()
  const end = (): void => over.abort()
  signal.addEventListener('abort', end)
  const forget = stopping.onStop(end)
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      signal.throwIfAborted()
      if (stopping.isStopping) throw new Stopped('the server stops; the next delivery is the next try')
      const status = await tryOnce(target, event, attempt).catch((error: unknown) => String(error))
      if (typeof status === 'number' && status >= 200 && status < 300) return
      if (FOR_GOOD.has(status as number))
        throw new Rejected(`the target answered ${status}`, { data: { status } })
      log.warn('the target did not take an event', { target: origin.url.origin, id: event.id, status })
      await sleep(pauseMs, undefined, { signal: over.signal }).catch(() => {})
    }
  } finally {
    forget()
  }
}

async function tryOnce({ origin, tryMs }: Target, event: WebhookEvent, attempt: Attempt): Promise<number> {
  const headers = passable([...event.headers].flat(), NOT_THEIRS)
  const { pathname, search } = origin.url
  const ours = [
    'idempotency-key',
    JSON.stringify(handOff(event, attempt).key),
    'ibid-event-id',
    encodeURIComponent(event.id),
    'ibid-attempt',
    String(attempt.number),
    'ibid-epoch',
    String(attempt.epoch),
  ]
  const request = origin.send('POST', pathname + search, [...headers, ...ours], event.raw)
  const giveUp = setTimeout(() => request.destroy(new TimedOut(`no answer in ${tryMs} ms`)), tryMs)
  const abort = (): void => void request.destroy()
  attempt.signal.addEventListener('abort', abort)
  try {
    const answer = await headOf(request)
    answer.resume()
    return answer.statusCode ?? 502
  } finally {
    clearTimeout(giveUp)
    attempt.signal.removeEventListener('abort', abort)
  }
}

class TimedOut extends Error {}
class Stopped extends Error {}

function sourceOf(given: Fields, field: string, env: NodeJS.ProcessEnv): Source {
  const secret = secretOf(given, field, env)
  const options = given['options'] === undefined ? {} : objectOf(given['options'], `${field}: options`)
  const kind = textOf(given, 'source')
  switch (kind) {
    case 'stripe':
      return stripe({ ...options, secret })
    case 'github':
      return github({ ...options, secret })
    case 'slack':
      return slack({ ...options, secret })
    case 'shopify':
      return shopify({ ...options, secret })
    case 'standard-webhooks':
      return standardWebhooks({ ...options, secret })
    case 'hmac':
      return hmac({ ...(options as unknown as HmacOptions), name: textOf(given, 'name'), secret })
    default:
      throw invalidIntent(
        `${field}: source is ${JSON.stringify(kind)}`,
        'use stripe, github, slack, shopify, standard-webhooks or hmac',
      )
  }
}

/** From the environment, so that a configuration file can be shown around. */
function secretOf(given: Fields, field: string, env: NodeJS.ProcessEnv): string {
  const variable = textIfGiven(given, 'secretEnv')
  const secret = variable === undefined ? textIfGiven(given, 'secret') : env[variable]
  if (secret !== undefined && secret !== '') return secret
  throw invalidIntent(
    `${field}: ${variable === undefined ? 'secretEnv is missing' : `${variable} is not set`}`,
    'name in secretEnv the environment variable that holds the signing secret',
  )
}

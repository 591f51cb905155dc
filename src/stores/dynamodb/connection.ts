/**
 * The way to the server. The SDK is loaded when the first call needs it. Every call ends within `timeoutMs`: bad
 * moments (throttling, a transaction on the same item) are waited out with growing pauses, and after that the call
 * is rejected. What every answer shows of the server's clock goes to the watch, and a clock that is proved to be
 * out of bounds lets nothing through until it is set right.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type * as Sdk from '@aws-sdk/client-dynamodb'
import { closed, IbidError } from '../../core/errors.js'
import { createSkewWatch, isBeyond, type SkewWatch } from './clock.js'
import { isBusy, noSdk, refusalOf, skewed, tooLate } from './errors.js'
import type { Settings } from './options.js'
import { turnstile } from './turnstile.js'

/** The SDK and a client, for one call that ends when `abortSignal` says so. */
export interface Line {
  readonly sdk: typeof Sdk
  readonly client: Sdk.DynamoDBClient
  readonly options: { readonly abortSignal: AbortSignal }
}

export interface Connection extends Settings {
  readonly watch: SkewWatch
  now(): number
  /** `unguarded`: also by a clock that is out of bounds, for whoever finds out. */
  call<Out>(ask: (line: Line) => Promise<Out>, unguarded?: 'unguarded'): Promise<Out>
  close(): void
}

/** Requests on their way at once, each on a socket of its own. */
const MOST_AT_ONCE = 64
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 500

export function connect(settings: Settings): Connection {
  const { clock, maxSkewMs, timeoutMs } = settings
  const watch = createSkewWatch()
  const inTurn = turnstile(MOST_AT_ONCE)
  let opening: Promise<Omit<Line, 'options'>> | undefined
  let open = true

  async function load(): Promise<Omit<Line, 'options'>> {
    const sdk = await import('@aws-sdk/client-dynamodb').catch((cause: unknown) => {
      throw noSdk(cause)
    })
    const client =
      settings.client ??
      new sdk.DynamoDBClient({
        requestHandler: {
          connectionTimeout: timeoutMs,
          httpAgent: { keepAlive: true, maxSockets: MOST_AT_ONCE },
          httpsAgent: { keepAlive: true, maxSockets: MOST_AT_ONCE },
        },
        ...settings.config,
      })
    return { sdk, client: watched(client, settings, watch) }
  }

  function line(): Promise<Omit<Line, 'options'>> {
    opening ??= load().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  function guard(): void {
    const skew = watch.measured()
    if (skew && isBeyond(skew, maxSkewMs)) throw skewed(skew, maxSkewMs)
  }

  async function repeat<Out>(ask: (line: Line) => Promise<Out>): Promise<Out> {
    const abortSignal = AbortSignal.timeout(timeoutMs)
    const { sdk, client } = await line()
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await ask({ sdk, client, options: { abortSignal } })
      } catch (error) {
        if (abortSignal.aborted) throw tooLate(timeoutMs, error)
        if (!isBusy(error)) throw error
      }
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal: abortSignal }).catch(
        (error: unknown) => {
          throw tooLate(timeoutMs, error)
        },
      )
    }
  }

  /** A clock that was out of bounds may have been set right: a read that writes no time finds out. */
  async function look(): Promise<void> {
    const skew = watch.measured()
    if (!skew || !isBeyond(skew, maxSkewMs)) return
    const Key = { pk: { S: '-' }, sk: { S: '-' } }
    await repeat(({ sdk, client, options }) =>
      client.send(new sdk.GetItemCommand({ TableName: settings.table, Key }), options),
    )
    guard()
  }

  return {
    ...settings,
    watch,
    now() {
      if (!open) throw closed()
      return clock.now()
    },
    async call(ask, unguarded) {
      if (!open) throw closed()
      if (unguarded) return await inTurn(() => repeat(ask))
      await look()
      try {
        const answer = await inTurn(() => repeat(ask))
        guard()
        return answer
      } catch (error) {
        if (!(error instanceof IbidError) && refusalOf(error)) guard()
        throw error
      }
    },
    close() {
      open = false
      if (!settings.client) void opening?.then(({ client }) => client.destroy()).catch(() => {})
    },
  }
}

/** A client whose answers are looked at: a copy of the caller's, which is left as it is. */
function watched(client: Sdk.DynamoDBClient, { clock }: Settings, watch: SkewWatch): Sdk.DynamoDBClient {
  const copy = Object.create(client) as Sdk.DynamoDBClient
  copy.middlewareStack = client.middlewareStack.clone()
  copy.middlewareStack.add(
    (next) => async (args) => {
      const sentMs = clock.now()
      const result = await next(args)
      const date = dateOf(result.response)
      if (date !== undefined) watch.sample(date, sentMs, clock.now())
      return result
    },
    { step: 'deserialize', priority: 'low', name: 'ibidClockWatch' },
  )
  return copy
}

function dateOf(response: unknown): string | undefined {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return undefined
  const { headers } = response
  if (typeof headers !== 'object' || headers === null || !('date' in headers)) return undefined
  return typeof headers.date === 'string' ? headers.date : undefined
}

/**
 * A connection that is ready to run scripts: connected, with the layout of the data known, every call bounded in
 * time, scripts loaded where a server does not have them, and replicas waited for where that was asked for.
 */
import { closed } from '../../core/errors.js'
import { createDeadlines } from './deadlines.js'
import type { Answer, Argument, Driver } from './driver.js'
import { invalidStore, isError, unavailable } from './faults.js'
import { createLayout, FORMAT, type Layout, layoutKey } from './layout.js'
import type { Script } from './scripts.js'

export interface SessionOptions {
  readonly prefix: string
  readonly shards: number | undefined
  readonly timeoutMs: number
  readonly wait: { readonly replicas: number; readonly timeoutMs: number } | undefined
}

export interface Session {
  readonly options: SessionOptions
  /** Rejects while the server cannot be reached, and tries again at the next call. */
  ready(): Promise<Ready>
  /** Runs a script on the server that has the first of `keys`. */
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Answer>
  /** As `run`, and its writes have reached as many replicas as the options ask for. */
  write(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Answer>
  /** One command, bounded in time, on the server that has `key`; or on all masters. */
  command(key: string, name: string, ...args: string[]): Promise<unknown>
  onAll(name: string, ...args: string[]): Promise<readonly unknown[]>
  close(): Promise<void>
}

export interface Ready {
  readonly driver: Driver
  readonly layout: Layout
}

/** In a cluster: enough for some twenty masters to have their share, few enough for batches to stay batches. */
const CLUSTER_SHARDS = 64

/** `open` gives up when its signal says so: a store that is closed while it connects keeps no program from ending. */
export function createSession(
  open: (signal: AbortSignal) => Promise<Driver>,
  options: SessionOptions,
): Session {
  const { timeoutMs, wait } = options
  let driver: Driver | undefined
  let isReady: Ready | undefined
  let preparing: Promise<Ready> | undefined
  let isClosed = false
  const closing = new AbortController()
  const within = createDeadlines()

  async function prepare(): Promise<Ready> {
    driver ??= await open(closing.signal)
    if (isClosed) {
      await driver.close()
      throw closed()
    }
    const { layout, isStored } = await findLayout(driver, options)
    if (isClosed) throw closed()
    const found = { driver, layout }
    // A replica could not be told: `check` says what it is, and the next call asks again.
    if (isStored) isReady = found
    return found
  }

  async function ready(): Promise<Ready> {
    if (isClosed) throw closed()
    if (isReady) return isReady
    preparing ??= prepare().finally(() => {
      preparing = undefined
    })
    return within(timeoutMs, preparing)
  }

  function evaluate(
    { driver }: Ready,
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<Answer> {
    const key = keys[0] as string
    const rest: Argument[] = [script.sha, String(keys.length), ...keys, ...args]
    const answer = driver.send(key, 'EVALSHA', rest).catch((error: unknown) => {
      // A restart or a failover forgets scripts; nothing has been done, so it can be sent in full.
      if (!isError(error, 'NOSCRIPT')) throw error
      rest[0] = script.text
      return driver.send(key, 'EVAL', rest)
    })
    return within(timeoutMs, answer as Promise<Answer>)
  }

  async function reachReplicas({ driver }: Ready, key: string, lossesBefore: number): Promise<void> {
    if (!wait) return
    const answered = await driver.send(key, 'WAIT', [String(wait.replicas), String(wait.timeoutMs)])
    if (Number(answered) < wait.replicas) {
      throw unavailable(
        `written, but only ${Number(answered)} of ${wait.replicas} replicas had it within ${wait.timeoutMs} ms`,
      )
    }
    // A new connection may lead to another primary, whose replicas have never heard of this write.
    if (driver.losses() !== lossesBefore)
      throw unavailable('the connection was lost while waiting for replicas')
  }

  return {
    options,
    ready,
    async run(script, keys, args) {
      return evaluate(isReady ?? (await ready()), script, keys, args)
    },
    async write(script, keys, args) {
      const now = isReady ?? (await ready())
      if (!wait) return evaluate(now, script, keys, args)
      const losses = now.driver.losses()
      const answer = await evaluate(now, script, keys, args)
      await within(timeoutMs + wait.timeoutMs, reachReplicas(now, keys[0] as string, losses))
      return answer
    },
    async command(key, name, ...args) {
      const { driver } = await ready()
      return within(timeoutMs, driver.send(key, name, args))
    },
    async onAll(name, ...args) {
      const { driver } = await ready()
      return within(timeoutMs, driver.sendToAll(name, args))
    },
    async close() {
      isClosed = true
      isReady = undefined
      closing.abort(closed())
      await driver?.close()
    },
  }
}

/** How the data under this prefix is laid out was decided by whoever came first, and holds for all. */
async function findLayout(
  driver: Driver,
  { prefix, shards }: SessionOptions,
): Promise<{ readonly layout: Layout; readonly isStored: boolean }> {
  const key = layoutKey(prefix)
  const wanted = `${FORMAT}:${shards ?? (driver.isCluster ? CLUSTER_SHARDS : 1)}`
  let text = await driver.send(key, 'GET', [key])
  if (text === null) {
    const refusal = await driver.send(key, 'SET', [key, wanted, 'NX']).catch((error: unknown) => error)
    if (refusal instanceof Error && !isError(refusal, 'READONLY')) throw refusal
    text = await driver.send(key, 'GET', [key])
  }
  const [format, count] = ((text as string | null) ?? wanted).split(':').map(Number)
  if (format !== FORMAT || !count) {
    throw invalidStore(
      `the receipts under the prefix ${JSON.stringify(prefix)} were written by another version of ibid`,
      'use that version, or another prefix',
    )
  }
  if (shards !== undefined && shards !== count) {
    throw invalidStore(
      `the receipts under the prefix ${JSON.stringify(prefix)} are in ${count} shards, not in ${shards}`,
      `leave out \`shards\`, or give ${count}; another number needs another prefix`,
    )
  }
  return { layout: createLayout(prefix, count), isStored: text !== null }
}

/** Where a scenario is played: a queue of its own, workers on one SQLite file, and a ledger of what they did. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Ledger, ledger } from '../../src/testing/index.js'
import { type Child, startChild } from '../../src/testing/process/start.js'

export interface TestBroker {
  /** Can it be told that a message is still being worked on? */
  readonly hasProgress: boolean
  makeQueue(queue: string, ackWaitMs: number): Promise<unknown>
  publish(queue: string, body: object, key?: string): Promise<unknown>
  pending(queue: string): Promise<number>
  dead(queue: string): Promise<number>
  close(): unknown
}

export interface ToldVerdict {
  readonly id: string
  readonly kind: 'ack' | 'retry' | 'dead'
  readonly code?: string
  readonly replayed?: boolean
  readonly delayMs?: number
}

export interface WorkerSettings {
  readonly hang?: 'before' | 'after' | 'settled'
  readonly recovery?: 'retry' | 'hold' | 'check'
  readonly effectMs?: number
  readonly maxAttempts?: number
  readonly retryDelay?: number
  readonly guardDelay?: number
  readonly store?: string
}

/** Long enough for a busy machine to renew in time, short enough to wait for after a kill. */
export const ACK_WAIT_MS = 3_000
const WITHIN_MS = 45_000
const SCRIPT = new URL('../fixtures/queue-worker.mjs', import.meta.url)

export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  isSo: (seen: T) => boolean,
): Promise<T> {
  const stop = Date.now() + WITHIN_MS
  for (;;) {
    const seen = await look()
    if (isSo(seen)) return seen
    if (Date.now() > stop) throw new Error(`${what}: still ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export class Stage {
  readonly effects: Ledger
  private readonly workers: Child[] = []

  constructor(
    readonly kind: string,
    readonly url: string,
    readonly broker: TestBroker,
    readonly queue: string,
    readonly directory: string,
  ) {
    this.effects = ledger(join(directory, 'effects.jsonl'))
  }

  async worker(settings: WorkerSettings = {}): Promise<Child> {
    const child = startChild(SCRIPT)
    this.workers.push(child)
    const { kind, url, queue, directory } = this
    const where = { kind, url, queue, file: this.effects.file, store: `sqlite:${join(directory, 'ibid.db')}` }
    await child.call('open', { ...where, ackWaitMs: ACK_WAIT_MS, ...settings })
    return child
  }

  /** Every verdict of these workers that is an end for its delivery, once there are `count`. */
  async ends(count: number, ...workers: Child[]): Promise<ToldVerdict[]> {
    const all = await until(
      `${count} deliveries of ${this.queue} at their end`,
      () => this.told(...workers),
      (told) => told.filter(({ kind }) => kind !== 'retry').length >= count,
    )
    return all.filter(({ kind }) => kind !== 'retry')
  }

  /** Every verdict of these workers so far. */
  async told(...workers: Child[]): Promise<ToldVerdict[]> {
    return (await Promise.all(workers.map((child) => child.call<ToldVerdict[]>('verdicts', {})))).flat()
  }

  count(what: 'started' | 'effect' | 'settled', id: string): number {
    return this.effects.count(`${what} ${id}`)
  }

  seen(what: 'started' | 'effect' | 'settled', id: string): Promise<unknown> {
    return until(
      `${what} ${id}`,
      () => this.count(what, id),
      (count) => count > 0,
    )
  }

  /** How long each start of a handler waited after the one before. */
  pauses(id: string): number[] {
    const starts = this.effects.all().filter(({ key }) => key === `started ${id}`)
    const atMs = starts.map(({ data }) => (data as { readonly atMs: number }).atMs)
    return atMs.slice(1).map((ms, n) => ms - (atMs[n] as number))
  }

  /** Stops everybody; then nothing may be left in the queue, and `dead` letters beside it. */
  async mustBeEmpty(dead = 0): Promise<void> {
    await Promise.all(this.workers.map((child) => child.end()))
    await until(
      `${this.queue} empty`,
      () => this.broker.pending(this.queue),
      (count) => count === 0,
    )
    await until(
      `dead letters of ${this.queue}`,
      () => this.broker.dead(this.queue),
      (count) => count >= dead,
    )
    expect(await this.broker.dead(this.queue)).toBe(dead)
  }

  async clear(): Promise<void> {
    await Promise.all(this.workers.map((child) => child.kill().catch(() => undefined)))
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

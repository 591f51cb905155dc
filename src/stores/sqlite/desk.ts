/**
 * The desk in front of the file. Whatever came while the last transaction ran is the next one: claims, swaps and
 * records that wait together share one commit. A lock that somebody else holds is waited for in short steps,
 * between which reads go on, and not longer than `busyMs`.
 */
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { claimAlone, settleAlone } from './alone.js'
import type { CatalogueCopy } from './catalogue.js'
import { checkpoint, type Connection, connect, inRead, inWrite, knowing } from './connection.js'
import { type Failure, failureOf, lockedTooLong, toError } from './errors.js'
import { GENERATION_SIZE } from './generation.js'
import type { Settings } from './open.js'
import { isDue, seal } from './seal.js'
import { NotAllMade } from './swap.js'
import { isWrite, READS, type Verb, WRITES } from './verbs.js'

export interface DeskSettings extends Settings {
  readonly busyMs: number
  readonly generationSize?: number | undefined
}

interface Asked {
  readonly verb: Verb
  readonly input: unknown
}

export interface Ticket extends Asked {
  readonly done: (output: unknown) => void
  readonly failed: (failure: Failure) => void
}

interface Waiting extends Ticket {
  readonly deadline: number
}

type Does = (connection: Connection, input: unknown, now: number, careful: boolean) => unknown

/**
 * A transaction that has this many writes is closed: others want the lock, and whoever waits for these can go on
 * while the rest is written.
 */
const FULL = 128

export class Desk {
  readonly #settings: DeskSettings
  readonly #answered: () => void
  #connection: Connection | undefined
  #waiting: Waiting[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `answered` is called after some tickets were answered, before more is done. */
  constructor(settings: DeskSettings, answered: () => void = () => {}) {
    this.#settings = settings
    this.#answered = answered
  }

  /** Learns what the desk of another thread knows of the same file. */
  learn(known: CatalogueCopy): void {
    this.#connection = knowing(this.#connection ?? connect(this.#settings), known)
  }

  /** Is there something that this desk leaves to another? */
  get isUntidy(): boolean {
    const size = this.#settings.generationSize ?? GENERATION_SIZE
    return this.#connection !== undefined && isDue(this.#connection.catalogue, size)
  }

  /**
   * Does it at once, without a ticket, where nobody waits. Undefined: somebody else has the lock, so take a ticket.
   * Throws a failure.
   */
  now(verb: Verb, input: unknown): { readonly output: unknown } | undefined {
    if (this.#waiting.length > 0) return undefined
    try {
      const output = this.#alone(verb, input) ?? this.#run([{ verb, input }])[0]
      this.#sealIfDue()
      return { output }
    } catch (error) {
      const failure = this.#understand(error)
      if (failure.kind === 'busy') return undefined
      throw toError(failure)
    }
  }

  /** In one statement, where that is enough. What is untidy is looked at in a transaction, until it is not. */
  #alone(verb: Verb, input: unknown): unknown {
    if (this.#connection === undefined) return undefined
    if (verb === 'swap') return settleAlone(this.#connection, input as readonly Swap[])
    if (verb === 'claim' && !this.isUntidy) return claimAlone(this.#connection, input as readonly Draft[])
    return undefined
  }

  /** Takes a ticket. `work` has to follow. */
  take(ticket: Ticket): void {
    this.#waiting.push({ ...ticket, deadline: performance.now() + this.#settings.busyMs })
  }

  /** Works on all that wait, until they are answered or the lock is somebody else's. */
  work(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    let held: Waiting[] = []
    while (this.#waiting.length > 0) {
      const tickets = this.#waiting
      this.#waiting = []
      const writes = tickets.filter(({ verb }) => isWrite(verb))
      for (const ticket of tickets) if (!isWrite(ticket.verb)) this.#attempt([ticket], held)
      this.#answered()
      for (let at = 0; at < writes.length;) {
        const end = held.length > 0 ? writes.length : endOfBatch(writes, at)
        const batch = writes.slice(at, end)
        if (held.length > 0) held.push(...batch)
        else this.#attempt(batch, held)
        this.#answered()
        at = end
      }
      this.#sealIfDue()
      if (held.length > 0) break
    }
    this.#waiting.push(...this.#refuseLate(held))
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.work(), 1 + Math.random() * 3)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#disconnect()
  }

  #disconnect(): void {
    this.#connection?.db.close()
    this.#connection = undefined
  }

  #attempt(tickets: readonly Waiting[], held: Waiting[]): void {
    try {
      const outputs = this.#run(tickets)
      for (const [i, ticket] of tickets.entries()) ticket.done(outputs[i])
    } catch (error) {
      const failure = this.#understand(error)
      if (failure.kind === 'busy') return void held.push(...tickets)
      // Where one of them is to blame, the others must not suffer for it.
      if (failure.kind === 'call' && tickets.length > 1) {
        for (const ticket of tickets) this.#attempt([ticket], held)
      } else {
        for (const ticket of tickets) ticket.failed(failure)
      }
    }
  }

  #understand(error: unknown): Failure {
    const failure = failureOf(error, this.#settings.file)
    if (failure.kind === 'file') this.#disconnect()
    return failure
  }

  #run(tickets: readonly Asked[]): readonly unknown[] {
    const connection = (this.#connection ??= connect(this.#settings))
    const [first] = tickets as readonly [Asked]
    if (first.verb === 'tidy') {
      checkpoint(connection)
      inRead(connection, () => {})
      return [null]
    }
    if (!isWrite(first.verb)) {
      const does = READS[first.verb] as Does
      return [inRead(connection, (now) => does(connection, first.input, now, true))]
    }
    const outputs = write(connection, tickets)
    if (tickets.some(({ verb }) => verb === 'purge')) connection.catalogue.forget()
    return outputs
  }

  /** What cannot be sealed now is sealed after one of the next transactions: until then it is found in memory. */
  #sealIfDue(): void {
    const connection = this.#connection
    const size = this.#settings.generationSize ?? GENERATION_SIZE
    if (!connection || this.#settings.untidy === true || !isDue(connection.catalogue, size)) return
    try {
      inWrite(connection, () => {
        // Another process may have done it in the meantime.
        if (isDue(connection.catalogue, size)) seal(connection.sql, connection.catalogue, size)
      })
    } catch {
      return
    } finally {
      connection.catalogue.forget()
    }
  }

  #refuseLate(held: readonly Waiting[]): Waiting[] {
    const now = performance.now()
    const late = held.filter(({ deadline }) => deadline <= now)
    for (const ticket of late) ticket.failed(lockedTooLong(this.#settings.file))
    if (late.length > 0) this.#answered()
    return held.filter(({ deadline }) => deadline > now)
  }
}

function write(connection: Connection, tickets: readonly Asked[], careful = false): readonly unknown[] {
  try {
    return inWrite(connection, (now) =>
      tickets.map(({ verb, input }) =>
        (WRITES[verb as keyof typeof WRITES] as Does)(connection, input, now, careful),
      ),
    )
  } catch (error) {
    if (!(error instanceof NotAllMade)) throw error
    return write(connection, tickets, true)
  }
}

function endOfBatch(writes: readonly Ticket[], start: number): number {
  let end = start
  for (let rows = 0; end < writes.length && rows < FULL; end++) {
    const { input } = writes[end] as Ticket
    rows += Array.isArray(input) ? input.length : 1
  }
  return end
}

/**
 * A downstream that does what it is told as often as it is told: nothing here looks for duplicates. Every effect is a
 * line in an append-only file, written before the answer; that file is what is counted in the end. It can be asked
 * whether it knows a reference, and it fails as the storm says: it commits and stays silent, or the deploy
 * kills the caller right before or right after the commit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Book } from './book.js'
import { type Asked, type Reply, type Service, startService } from './service.js'

/** What is asked for; `reference` is the caller's own name for it. */
export interface Wanted {
  readonly charge: string
  readonly reference: string
  readonly [detail: string]: unknown
}

/** How it fails for one charge, once or a few times. */
export interface Failures {
  readonly silences: number
  readonly kill: 'before' | 'after' | undefined
  readonly hasLookup: boolean
}

export interface EffectApiOptions {
  /** `re` for refunds: how ids begin. */
  readonly prefix: string
  readonly book: Book
  readonly failuresOf: (charge: string) => Failures
  /** The deploy: ends the process that is calling. */
  readonly kill: (pid: number) => void
}

/** The caller says which process it is, so that the deploy can hit it. */
export const INSTANCE_HEADER = 'x-instance'
/**
 * Until when the caller waits. What comes to its turn later is not carried out: a caller who was told "not found" after
 * that can believe it, however long the request had been on its way.
 */
export const DEADLINE_HEADER = 'x-deadline'
/** A question is answered when everything that had arrived before it is dealt with. */
const BEHIND_MS = 20

export async function startEffectApi(options: EffectApiOptions): Promise<Service> {
  const { prefix, book, failuresOf, kill } = options
  const known = new Map<string, { readonly id: string }>()
  const silent = new Map<string, number>()
  const killed = new Set<string>()
  let made = 0

  function post(wanted: Wanted, { headers }: Asked): Reply {
    const { charge, reference } = wanted
    const pid = Number(headers[INSTANCE_HEADER])
    if (Date.now() > Number(headers[DEADLINE_HEADER])) return { status: 408, body: {} }
    const failures = failuresOf(charge)
    const isHit = failures.kill !== undefined && !killed.has(charge)
    if (isHit) killed.add(charge)
    if (isHit && failures.kill === 'before') {
      kill(pid)
      return 'hang-up'
    }
    const done = { id: `${prefix}_${++made}` }
    book.append({ ...wanted, ...done, instance: pid, atMs: Date.now() })
    if (!known.has(reference)) known.set(reference, done)
    if (isHit) {
      kill(pid)
      return 'hang-up'
    }
    const before = silent.get(charge) ?? 0
    if (before < failures.silences) {
      silent.set(charge, before + 1)
      return 'silence'
    }
    return { status: 201, body: done }
  }

  async function look(query: URLSearchParams): Promise<Reply> {
    await sleep(BEHIND_MS)
    if (!failuresOf(query.get('charge') ?? '').hasLookup) return { status: 501, body: {} }
    const done = known.get(query.get('reference') ?? '')
    return done ? { status: 200, body: done } : { status: 404, body: {} }
  }

  return await startService((asked) =>
    asked.method === 'POST' ? post(asked.body as Wanted, asked) : look(asked.query),
  )
}

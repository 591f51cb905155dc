/**
 * The crash matrix: for every policy and every point between claim and settle, a process that is killed there with
 * SIGKILL, a recovery by others, and a look at what happened: effects from a ledger that the store knows nothing of,
 * and the receipt that was left.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, compiled, startChild } from '../process/start.js'
import { moduleUrl } from '../store/processes.js'
import { tally } from '../tally.js'
import type { CrashPoint } from './crash-store.js'
import { violationOf } from './expectation.js'
import type { CrashOrder, CrashPolicy, Recovered } from './victim.js'

export interface CrashMatrixOptions {
  /**
   * An ES module. Its default export takes `{ id, directory, offsetMs }` and opens the store there; for the policy
   * `atomic` it also exports `transact: { write, read }`, as `testStore` takes it.
   */
  readonly module: string | URL
  readonly policies?: readonly CrashPolicy[]
  /** A list in the list is a crash, and then another one in the process that recovers from it. */
  readonly points?: readonly (CrashPoint | readonly CrashPoint[])[]
  /** Recovery waits this long for a dead process, in real time. Default 300. */
  readonly leaseMs?: number
  /** Cells at once, each in a store of its own, one after the other. Default 2. */
  readonly lanes?: number
  /** How often each cell is run. Default 1. */
  readonly rounds?: number
  /**
   * So many cells share a process, are each stopped at their point, and are killed together. Default 1: each has a
   * process of its own, which kills itself at the point. `atomic` cells hold locks there, and are always alone.
   */
  readonly together?: number
  /** Undefined: as it should be. Otherwise what is wrong. */
  readonly expect?: (cell: CrashCell) => string | undefined
}

export interface CrashCell extends Recovered {
  readonly policy: CrashPolicy
  readonly points: readonly CrashPoint[]
  /** For each point: was it reached, and the process killed there? */
  readonly killed: readonly boolean[]
}

export interface JudgedCell extends CrashCell {
  /** Undefined: as promised. */
  readonly violation: string | undefined
}

export const CRASH_POLICIES: readonly CrashPolicy[] = ['hold', 'check', 'retry', 'atomic']

export const CRASH_POINTS: readonly (CrashPoint | readonly CrashPoint[])[] = [
  'before claim',
  'after claim',
  'before effect',
  'after effect',
  'before settle',
  'after settle',
  'before transact',
  'after transact',
  ['after claim', 'before takeover'],
  ['after claim', 'after takeover'],
  ['after effect', 'before takeover'],
  ['after effect', 'after takeover'],
  ['after effect', 'before settle'],
  ['after effect', 'after settle'],
]

export async function crashMatrix(options: CrashMatrixOptions): Promise<readonly JudgedCell[]> {
  const { policies = CRASH_POLICIES, points = CRASH_POINTS, lanes = 2, rounds = 1, together = 1 } = options
  const matrix = policies.flatMap((policy) =>
    points
      .map((point) => [point].flat() as readonly CrashPoint[])
      .filter((sequence) => sequence.every((point) => isReachable(policy, point)))
      .map((sequence) => ({ policy, points: sequence })),
  )
  const planned = Array.from({ length: rounds }, () => matrix).flat()
  const cells: JudgedCell[] = []
  const next = groupsOf(planned, together).values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const lane = await openLane(options)
      try {
        for (const group of next) {
          const judged = await runGroup(options, lane, group)
          for (const [i, { at }] of group.entries()) cells[at] = judged[i] as JudgedCell
        }
      } finally {
        await lane.close()
      }
    }),
  )
  return cells
}

interface Planned {
  readonly policy: CrashPolicy
  readonly points: readonly CrashPoint[]
}

interface Numbered extends Planned {
  readonly at: number
}

function groupsOf(planned: readonly Planned[], together: number): readonly (readonly Numbered[])[] {
  const numbered = planned.map((cell, at) => ({ ...cell, at }))
  const alone = numbered.filter(({ policy }) => together === 1 || policy === 'atomic')
  const shared = numbered.filter((cell) => !alone.includes(cell))
  const groups: Numbered[][] = alone.map((cell) => [cell])
  for (let i = 0; i < shared.length; i += together) groups.push(shared.slice(i, i + together))
  return groups
}

/** A store that outlives many crashes, and a process that cleans up after each. */
interface Lane {
  readonly context: CrashOrder['context']
  readonly rescuer: Child
  close(): Promise<void>
}

async function openLane({ module }: CrashMatrixOptions): Promise<Lane> {
  const directory = await mkdtemp(join(tmpdir(), 'ibid-crash-'))
  const rescuer = startChild(compiled('./victim.js', import.meta.url))
  const context = { id: `crash${randomBytes(6).toString('hex')}`, directory, offsetMs: 0 }
  // Victims find the store as they would in a program that has run before.
  await rescuer.call('prepare', { module: moduleUrl(module), context })
  return {
    context,
    rescuer,
    async close() {
      await rescuer.end()
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Nothing takes a held receipt over, and only transactions have the points of one. */
function isReachable(policy: CrashPolicy, point: CrashPoint): boolean {
  if (point.endsWith('transact')) return policy === 'atomic'
  return !point.endsWith('takeover') || policy !== 'hold'
}

async function runGroup(
  options: CrashMatrixOptions,
  { context, rescuer }: Lane,
  group: readonly Numbered[],
): Promise<readonly JudgedCell[]> {
  const running = group.map(({ policy, points, at }) => ({
    policy,
    points,
    killed: [] as boolean[],
    order: {
      module: moduleUrl(options.module),
      context,
      policy,
      ledgerFile: join(context.directory, 'effects.jsonl'),
      key: `${context.id}, ${at}: ${policy}: ${points.join(', ')}`,
      leaseMs: options.leaseMs ?? 300,
    },
  }))
  for (let step = 0; ; step++) {
    const due = running.filter(({ points }) => step < points.length)
    if (due.length === 0) break
    const wanted = due.map(({ order, points }) => ({ order, point: points[step] as CrashPoint }))
    const reached = await killedAt(wanted)
    for (const [i, { killed }] of due.entries()) killed.push(reached[i] as boolean)
  }
  return await Promise.all(
    running.map(async ({ order, policy, points, killed }) => {
      const cell = { policy, points, killed, ...(await rescuer.call<Recovered>('recover', order)) }
      return { ...cell, violation: (options.expect ?? violationOf)(cell) }
    }),
  )
}

interface Wanted {
  readonly order: CrashOrder
  readonly point: CrashPoint
}

async function killedAt(wanted: readonly Wanted[]): Promise<readonly boolean[]> {
  const [first] = wanted as readonly [Wanted]
  if (wanted.length === 1) return [await isKilledAt(first.order, first.point)]
  const victim = startChild(compiled('./victim.js', import.meta.url))
  try {
    return await victim.call<readonly boolean[]>('stop', wanted)
  } finally {
    await victim.kill()
  }
}

async function isKilledAt(order: CrashOrder, point: CrashPoint): Promise<boolean> {
  const victim = startChild(compiled('./victim.js', import.meta.url))
  const outcome = await victim.call('crash', { order, point }).then(
    () => undefined,
    (error: unknown) => error,
  )
  // Where the point was not reached, it has answered, or told why it could not.
  await victim.end()
  const isKilled = (await victim.ended) === 'SIGKILL'
  if (isKilled) tally({ kills: 1 })
  else if (outcome instanceof Error && !isPolicyAnswer(outcome)) throw outcome
  return isKilled
}

/** A held receipt is an answer, not a failure of the matrix. */
function isPolicyAnswer(error: Error): boolean {
  const data = 'data' in error ? (error.data as { readonly code?: string } | undefined) : undefined
  return data?.code === 'OUTCOME_UNKNOWN'
}

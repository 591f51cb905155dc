/** Runs as they stand: one, many, and one over time. */
import type { ReceiptView, State } from '../../core/receipt.js'
import type { Ibid } from '../../ibid.js'
import { nameOf, runIdOf, runWhere, stepScope } from './names.js'
import { pause, type Timers } from './timers.js'

export interface RunStatus {
  readonly runId: string
  readonly tenant: string
  readonly agent: string
  readonly key: string
  /** `pending`: a worker has it, or had it. `released`: given back, not started. `unknown`: held for a person. */
  readonly state: State
  /** How many workers have had it. */
  readonly attempt: number
  /** Milliseconds of the store's clock. */
  readonly createdAt: number
  readonly at: number
}

export interface RunDetail extends RunStatus {
  readonly value?: unknown
  readonly error?: Error
  /** Keys of the steps that are being executed, or are held. */
  readonly open: readonly { readonly key: string; readonly state: State; readonly attempt: number }[]
}

export interface RunQuery {
  readonly tenant?: string | undefined
  readonly agent: string
  readonly state?: State | readonly State[] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface WatchOptions {
  readonly tenant?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const WATCH_MS = 250

function statusOf(agent: string, receipt: ReceiptView): RunStatus {
  const { tenant, key, state, attempt, createdAt, at } = receipt
  return {
    runId: runIdOf({ tenant, agent, key }, createdAt),
    tenant,
    agent,
    key,
    state,
    attempt,
    createdAt,
    at,
  }
}

/** Undefined where there is no such run, or its trigger has had another one since. */
export async function getRun(ibid: Ibid, runId: string, tenant?: string): Promise<RunDetail | undefined> {
  const name = nameOf(runId, tenant)
  const receipt = await ibid.get(runWhere(name))
  if (!receipt) return undefined
  const status = statusOf(name.agent, receipt)
  if (status.runId !== runId) return undefined
  const { value, error } = receipt
  const ended = status.state === 'succeeded' || status.state === 'failed'
  const open = ended ? [] : await openSteps(ibid, status)
  return {
    ...status,
    open,
    ...(value === undefined ? {} : { value }),
    ...(error === undefined ? {} : { error }),
  }
}

async function openSteps(ibid: Ibid, { tenant, runId }: RunStatus): Promise<RunDetail['open']> {
  const { receipts } = await ibid.list({ tenant, scope: stepScope(runId), state: ['pending', 'unknown'] })
  return receipts.map(({ key, state, attempt }) => ({ key, state, attempt }))
}

export async function listRuns(
  ibid: Ibid,
  { agent, ...query }: RunQuery,
): Promise<{ readonly runs: readonly RunStatus[]; readonly cursor?: string | undefined }> {
  const { receipts, cursor } = await ibid.list({ ...query, scope: `run:${agent}` })
  return { runs: receipts.map((receipt) => statusOf(agent, receipt)), cursor }
}

/** What it is now, then every change, until the run has ended. */
export async function* watchRun(
  ibid: Ibid,
  timers: Timers,
  runId: string,
  { tenant, signal = new AbortController().signal }: WatchOptions,
): AsyncGenerator<RunDetail, void, void> {
  let last: string | undefined
  for (;;) {
    const detail = await getRun(ibid, runId, tenant)
    if (!detail) return
    const seen = JSON.stringify([detail.state, detail.attempt, detail.open])
    if (seen !== last) yield detail
    last = seen
    if (detail.state === 'succeeded' || detail.state === 'failed') return
    await pause(timers, WATCH_MS, signal)
  }
}

/**
 * A tool call as a step. The broker dedups it by run, step, tool and ordinal, and knows which arguments count; the
 * step's receipt keeps the observation, so that a resumed run gets it back without asking, reads included. Only what
 * went well is kept: a refusal that is final is the broker's to repeat, and any other may be over by then.
 *
 * The place is the n-th call of this tool in its step: a resumed step that picks another tool runs that under its own
 * key, whatever the order. The same tool with other arguments goes to the broker, which tells a reworded reason from
 * another amount; so the arguments are kept beside the observation and are no part of what the step's receipt compares.
 */
import { NotExecuted } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { fingerprint } from '../../key/index.js'
import type { ActiveRun, StepRecord } from './active-run.js'
import { stepWhere } from './names.js'
import { isReused } from './refusals.js'
import { stepPolicy } from './terms.js'

/** An observation, as far as a run looks at it. */
export interface Observed {
  readonly ok: boolean
  readonly _idempotency?: { readonly replay?: boolean; readonly key?: string | null }
}

/** What the host says about a call, and the run does not know. */
export interface CallOptions {
  /** The rights of the caller. */
  readonly scopes?: readonly string[]
  /** The version of the contract that the caller was written for. */
  readonly version?: string
}

export interface CallContext extends CallOptions {
  readonly tenant: string
  readonly runId: string
  readonly stepId: string
  /** 0 for the first call of the tool in its step. */
  readonly ordinal: number
  readonly signal: AbortSignal
}

/** A broker, as far as a run needs one. */
export interface Caller<O extends Observed> {
  call(tool: string, args: unknown, context: CallContext): Promise<O>
}

interface CallRecord<O> extends StepRecord<O> {
  /** The arguments of the call, as a fingerprint. */
  readonly asked?: string | undefined
}

interface ToolCall {
  readonly tool: string
  readonly args: unknown
  readonly place: string
  readonly stepId: string
  readonly ordinal: number
  readonly options: CallOptions
}

export async function callTool<O extends Observed>(
  run: ActiveRun,
  broker: Caller<O>,
  { tool, args, place, stepId, ordinal, options }: ToolCall,
): Promise<O> {
  onlyKnown(options, ['scopes', 'version'], 'run.call')
  const { tenant, runId, stopped } = run
  const context = { ...options, tenant, runId, stepId, ordinal, signal: stopped.signal }
  const ask = (): Promise<O> => broker.call(tool, args, context)
  const where = stepWhere(run, place)
  const asked = printOf(args)
  let refused: O | undefined
  async function effect(): Promise<CallRecord<O>> {
    refused = undefined
    const observation = await ask()
    if (observation.ok) return { name: `call ${tool}`, value: observation, asked }
    refused = observation
    throw new NotExecuted(`tool ${tool} answered with a refusal, which is the broker's to keep`)
  }
  try {
    // The broker's own receipt decides what a repeated call does: asking it again is always safe.
    const policy = stepPolicy<CallRecord<O>>({}, 'retry', run.terms)
    const { value: record, replayed } = await run.ibid.once({ ...where, payload: { tool } }, effect, policy)
    if (!replayed) return record.value
    return asked !== undefined && record.asked === asked ? asReplay(record.value) : await ask()
  } catch (error) {
    if (refused) return refused
    // Written by a version that compared the arguments here.
    if (isReused(error, where)) return await ask()
    throw error
  }
}

/** Undefined: they cannot be told apart from others, which is the broker's to say. */
function printOf(args: unknown): string | undefined {
  try {
    return fingerprint(args)
  } catch {
    return undefined
  }
}

function asReplay<O extends Observed>(observation: O): O {
  const { _idempotency: about } = observation
  return { ...observation, _idempotency: { ...about, replay: true } }
}

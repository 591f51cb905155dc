/**
 * Who calls, and where in which run: what the host knows and the model does not. Nothing of it is ever taken
 * out of the arguments. A mistake here is the program's, so it throws; a mistake in the arguments is
 * answered.
 */
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'
import { onlyKnown } from '../../core/known.js'

export interface CallContext {
  /** May be left out where the broker was made for one tenant. */
  readonly tenant?: string | undefined
  /** The run, workflow execution or conversation. */
  readonly runId?: string | undefined
  /** The step inside it, the same when the step is run again. Never an attempt number. */
  readonly stepId?: string | undefined
  /** The id that the model's message gives this call: good inside one stored message, not beyond. */
  readonly toolCallId?: string | undefined
  /** A key that the host itself hands over, for example in MCP `_meta`. */
  readonly hostKey?: string | undefined
  /** On whose behalf, where nothing else is known. */
  readonly principal?: string | undefined
  /** For a deliberate repeat in the same step: 0 for the first, 1 for the second … */
  readonly ordinal?: number | undefined
  /** The rights of the caller. */
  readonly scopes?: readonly string[] | undefined
  /** The version of the contract that the caller was written for. */
  readonly version?: string | undefined
  /** Stops a call that has not been dispatched yet, and a read. A write that is under way is seen through. */
  readonly signal?: AbortSignal | undefined
}

export interface Caller extends CallContext {
  readonly tenant: string
}

const KNOWN = [
  'tenant',
  'runId',
  'stepId',
  'toolCallId',
  'hostKey',
  'principal',
  'ordinal',
  'scopes',
  'version',
  'signal',
] satisfies (keyof CallContext)[]
const IDS = ['runId', 'stepId', 'toolCallId', 'hostKey', 'principal'] as const

export function readContext(context: CallContext, tenant: string | undefined): Caller {
  if (typeof context !== 'object' || context === null) {
    throw invalidIntent('the call has no context', 'pass { tenant, runId, stepId } as the third argument')
  }
  onlyKnown(context, KNOWN, 'the context of a call')
  // A tenant that was looked up and not found is null: it must not become the broker's own.
  const caller = { ...context, tenant: (context.tenant === undefined ? tenant : context.tenant) as string }
  checkAddress({ tenant: caller.tenant, scope: 'tool', key: 'key' })
  for (const id of IDS) checkId(id, caller[id])
  const { ordinal = 0 } = caller
  if (!Number.isSafeInteger(ordinal) || ordinal < 0) {
    throw invalidIntent(`ordinal is ${String(ordinal)}`, 'give ordinal a whole number from 0')
  }
  return caller
}

function checkId(name: string, value: unknown): void {
  if (value === undefined) return
  if (typeof value === 'string' && value !== '' && value.isWellFormed()) return
  throw invalidIntent(
    `${name} is ${value === '' ? 'empty' : `of type ${value === null ? 'null' : typeof value}`}`,
    `give ${name} as a string that names it and stays the same when it is tried again, or leave it out`,
  )
}

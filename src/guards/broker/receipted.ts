/**
 * A write under a receipt: claim, execute with the key, settle, answer. The engine does the claiming,
 * settling and audit; here its answers become observations, and a step that comes back with other arguments
 * is found out.
 */
import { IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { Attempt, Policy } from '../../core/policy.js'
import type { Ibid, ReceiptDetail } from '../../ibid.js'
import { ask } from './ambiguity.js'
import type { Caller } from './context.js'
import type { Contract } from './contract.js'
import { needsHuman } from './failure.js'
import { comparedOf, type StepKey, stepKey } from './ladder.js'
import { marks, type Observation, type ObservationError, refusal } from './observation.js'
import type { ReadyTool } from './ready.js'
import type { Execution, Pace } from './one-try.js'
import { runTries } from './tries.js'
import { askedAgain, diverged, errorOf, invalidArguments } from './words.js'

export interface Desk {
  readonly ibid: Pick<Ibid, 'once' | 'get'>
  readonly pace: Pace
  readonly onError: (error: unknown, tool: string) => void
}

/** One call of one tool, with everything about it checked. */
export interface Order {
  readonly tool: ReadyTool
  readonly caller: Caller
  readonly args: unknown
}

/** A step whose call was refused for good may try other arguments this often before it counts as diverged. */
const MOST_CORRECTIONS = 15

export async function callReceipted(desk: Desk, order: Order, correction = 0): Promise<Observation> {
  const { tool, caller, args } = order
  let at: StepKey | undefined
  try {
    at = stepKey(caller, tool.contract.name, args, tool.identity, correction)
    const { key, rung } = at
    const { tenant, principal } = caller
    const compared = comparedOf(rung, principal, args, tool.identity)
    const intent = { tenant, scope: tool.scope, key, ...compared }
    const policy = policyOf(desk, order, rung === 'arguments' ? tool.shortPolicy : tool.terms.policy)
    const run = (attempt: Attempt): Promise<unknown> => runTries(executionOf(desk, order, attempt))
    const { value, replayed, receipt } = await desk.ibid.once(intent, run, policy)
    const seen = marks(replayed, key, receipt.at)
    if (!replayed || rung !== 'arguments') return { ok: true, data: value, _idempotency: seen }
    return { ok: false, error: askedAgain({ state: receipt.state, result: value }), _idempotency: seen }
  } catch (error) {
    return await answer(desk, order, at, correction, error)
  }
}

function policyOf(desk: Desk, order: Order, policy: Policy): Policy {
  const { contract, terms } = order.tool
  if (!contract.check || terms.repeatable || terms.human) return policy
  const check = contract.check.bind(contract)
  return { ...policy, recovery: { check: (attempt) => ask(executionOf(desk, order, attempt), check) } }
}

function executionOf(desk: Desk, { tool, caller, args }: Order, attempt: Attempt): Execution {
  const { contract, terms } = tool
  return {
    contract,
    terms,
    pace: desk.pace,
    base: {
      key: attempt.key,
      tenant: attempt.tenant,
      tool: contract.name,
      args,
      runId: caller.runId,
      stepId: caller.stepId,
      attempt: attempt.number,
      epoch: attempt.epoch,
    },
    outer: () => attempt.signal,
    onError: (error) => desk.onError(error, contract.name),
  }
}

async function answer(
  desk: Desk,
  order: Order,
  at: StepKey | undefined,
  correction: number,
  error: unknown,
): Promise<Observation> {
  if (!(error instanceof IbidError)) return refusal(errorOf(error), at?.key)
  // A verdict of the tool may carry any code: only the engine's own errors are read by theirs.
  const ours = !(error instanceof Rejected || error instanceof NotExecuted)
  if (ours && error.code === 'INVALID_INTENT') return refusal(aboutArguments(error), at?.key ?? null)
  if (at === undefined) throw error
  const { rung, key } = at
  if (ours && error.code === 'KEY_REUSED' && rung !== 'host')
    return await compare(desk, order, key, correction, error)
  const { receipt } = error
  return {
    ok: false,
    error: errorOf(withPerson(order.tool.contract, error)),
    _idempotency: marks(error.replayed === true, key, receipt && isSettled(receipt) ? receipt.at : undefined),
  }
}

/** What is held where no check can ever tell waits for a person. */
function withPerson(contract: Contract, error: IbidError): IbidError {
  if (!(error instanceof OutcomeUnknown) || (contract.check && !contract.requiresHumanOnRetry)) return error
  return needsHuman(error.message)
}

/** Arguments that cannot be told apart from others, such as integers past 2^53; or the program's own mistake. */
function aboutArguments(error: IbidError): ObservationError {
  const message = error.message.replace('; nothing was executed', '')
  // An include list of which these arguments have nothing.
  if (message.startsWith('identity.include')) return invalidArguments([{ field: '', message }])
  if (!message.startsWith('payload')) throw error
  const [, field = '', what = message] = NAMED.exec(message) ?? []
  return invalidArguments([{ field, message: what }])
}

/** `payload.items[2]["of a name"] is wrong`: a name may hold anything, and stands in quotes then. */
const NAMED = /^payload\.?((?:\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^\s["])*) (.*)$/s

/**
 * The step has a receipt for other arguments. Where that call was refused for good, nothing landed, and this one
 * takes its place under the next key of the step: still at most one of them lands. Otherwise it has diverged.
 */
async function compare(
  desk: Desk,
  order: Order,
  key: string,
  correction: number,
  reused: IbidError,
): Promise<Observation> {
  try {
    const { tenant } = order.caller
    const first = await desk.ibid.get({ tenant, scope: order.tool.scope, key })
    const refused = first?.state === 'failed' && first.error?.code !== 'PARTIAL_SUCCESS'
    if (refused && correction < MOST_CORRECTIONS) return await callReceipted(desk, order, correction + 1)
    const state = first?.state ?? reused.receipt?.state
    return {
      ok: false,
      error: diverged({ state, ...whatCame(first) }),
      _idempotency: marks(false, key, first && isSettled(first) ? first.at : undefined),
    }
  } catch (error) {
    return refusal(errorOf(error), key)
  }
}

function whatCame(first: ReceiptDetail | undefined): {
  readonly result?: unknown
  readonly error?: ObservationError
} {
  if (first?.error) return { error: errorOf(first.error) }
  return first && 'value' in first ? { result: first.value } : {}
}

function isSettled({ state }: Pick<ReceiptDetail, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed'
}

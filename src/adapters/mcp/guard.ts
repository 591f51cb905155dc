/**
 * The guard: one tool call, whatever carries it, done once. Reads pass. A write gets a receipt under the host's
 * key or, where the host gave none, under its arguments for a short while, and then a second one is asked about,
 * not replayed.
 */
import { IbidError, NotExecuted, OutcomeUnknown } from '../../core/errors.js'
import type { Ibid } from '../../ibid.js'
import { comparedOf, stepKey } from '../../guards/broker/ladder.js'
import type { ObservationError } from '../../guards/broker/observation.js'
import { askedAgain, errorOf, isUnsettled, notForModels } from '../../guards/broker/words.js'
import { type Ask, checkedCall } from './checked.js'
import { CODES, type JsonObject, NOT_CARRIED_OUT, objectOf, type Reply, resultOf } from './message.js'
import { ERROR, type HostWords, inRevisionOf, isKeyed, marked, readMeta } from './meta.js'
import { type Listing, type McpContract, readContracts, termsOf, type ToolTerms } from './tool-terms.js'

export interface GuardOptions {
  readonly ibid: Pick<Ibid, 'once' | 'resolve'>
  readonly tenant: string
  /** The name of the server whose tools these are: part of every scope, so choose it once. */
  readonly server: string
  readonly contracts?: readonly McpContract[]
  /** `ignore`: a tool without a contract is a write, whatever it says of itself. Default `use`. */
  readonly annotations?: 'use' | 'ignore'
}

/** What every way to guard a server can be told. */
export const GUARD_OPTIONS = [
  'ibid',
  'tenant',
  'server',
  'contracts',
  'annotations',
] satisfies (keyof GuardOptions)[]

export interface ToolCall {
  readonly name: string
  readonly args: unknown
  readonly meta: JsonObject
  /** On whose behalf: what one principal did is never shown to another. */
  readonly principal: string
  readonly listed: Listing
  /** Has the client taken it back? Asked once, before it is dispatched. */
  isWithdrawn(): boolean
}

/**
 * Sends the call upstream, with the key to hand down. Rejects with NotExecuted where it certainly was not carried
 * out; with anything else nobody knows.
 */
export type Dispatch = (key: string) => Promise<Reply>

/** The way to the upstream, for one call. */
export interface Line {
  readonly dispatch: Dispatch
  readonly ask: Ask
}

/**
 * `read`: pass it, its cancellation too. `direct`: pass it, and see it through. `receipted`: it goes through
 * `call`.
 */
export type Treatment = 'read' | 'direct' | 'receipted'

export interface Guard {
  /** Is there something to learn about this tool from `tools/list`? */
  wantsListing(name: string): boolean
  treatmentOf(call: ToolCall): Treatment
  call(call: ToolCall, line: Line): Promise<Reply>
}

/** An answer that ends the attempt, and that is no outcome: it is passed on, and the key given back. */
class PassedOn extends NotExecuted {
  constructor(readonly reply: Reply) {
    super('the upstream did not carry it out')
  }
}

export function createGuard(options: GuardOptions): Guard {
  const { ibid, tenant, server } = options
  const contracts = readContracts(options.contracts)
  const believes = options.annotations !== 'ignore'

  function terms({ name, listed }: ToolCall): ToolTerms {
    const told = listed === 'not told' ? undefined : listed
    const { annotations: _, ...rest } = told ?? {}
    return termsOf(contracts.get(name), believes ? told : rest)
  }

  async function receipted(call: ToolCall, words: HostWords, { dispatch, ask }: Line): Promise<Reply> {
    const { name, principal } = call
    const { effect, onError, identity, policy, shortPolicy, meant, asking } = terms(call)
    const payload = meant(call.args ?? {})
    const { key, rung } = stepKey({ tenant, principal, ...words }, `${server}/${name}`, payload, identity)
    if (rung === 'arguments' && call.listed === 'not told') return notTold(name)
    const where = { tenant, scope: `tool:${server}/${name}`, key }
    let sent: Promise<Reply> | undefined
    // A model's next call gets a new key of its host's, and would be another action; by its arguments it is the same.
    const told = (error: unknown): Told => {
      const facts = errorOf(error)
      return { facts, shown: rung === 'host' && isUnsettled(facts) ? notForModels(facts) : facts }
    }
    const keyFor = (own: string): string => words.hostKey ?? own
    const send = (down: string): Promise<Reply> => (sent = dispatch(down)).catch(lost)
    const read = (reply: Reply): JsonObject => outcomeOf(reply, onError)
    const checked =
      asking &&
      checkedCall({ tool: name, args: payload, effect, identity, asking, ask, keyFor, send, outcomeOf: read })
    const within = rung === 'arguments' ? shortPolicy : policy
    try {
      const { value, replayed, receipt } = await ibid.once(
        { ...where, ...comparedOf(rung, principal, payload, identity) },
        async (attempt) => {
          if (call.isWithdrawn()) throw new NotExecuted('the client took it back before it was sent')
          return checked ? await checked.run(attempt) : read(await send(keyFor(attempt.key)))
        },
        checked ? checked.within(within) : within,
      )
      const result = resultOf(value)
      if (!replayed || rung !== 'arguments') return { result: marked(result, replayed, key, receipt.at) }
      const asked = askedAgain(undefined)
      return problem({ facts: asked, shown: asked }, key, receipt.at, result)
    } catch (error) {
      if (error instanceof PassedOn) return error.reply
      if (!(error instanceof IbidError)) return problem(told(error), key)
      if (error instanceof OutcomeUnknown && sent) void resolveLate(where, sent, onError)
      return problem(told(error), key, error.replayed ? error.receipt?.at : undefined)
    }
  }

  /** The time was up, or the connection lost; should the answer come all the same, nobody has to look it up. */
  async function resolveLate(
    where: { scope: string; key: string },
    sent: Promise<Reply>,
    onError: ToolTerms['onError'],
  ) {
    try {
      const value = outcomeOf(await sent, onError)
      const resolver = { by: 'ibid mcp', why: 'the upstream answered after the time was up' }
      await ibid.resolve({ tenant, ...where }, { as: 'succeeded', value }, resolver)
    } catch {
      // It stays held.
    }
  }

  return {
    wantsListing: (name) => believes && !contracts.has(name),
    treatmentOf(call) {
      const { effect } = terms(call)
      if (effect === 'read') return 'read'
      return effect === 'write-idempotent' && !isKeyed(call.meta) ? 'direct' : 'receipted'
    },
    async call(call, line) {
      try {
        const reply = await receipted(call, readMeta(call.meta), line)
        return 'result' in reply ? { result: inRevisionOf(call.meta, reply.result) } : reply
      } catch (error) {
        // The host's own mistake, or a name that no receipt can have: nothing was sent.
        if (error instanceof IbidError) return { error: { code: CODES.params, message: error.message } }
        throw error
      }
    },
  }
}

/** Which arguments count is on the list: without it this call and its repetition might be two, and be done twice. */
function notTold(tool: string): Reply {
  const message =
    'the list of tools could not be had from the server, and it says which arguments count; nothing was sent. ' +
    `Call again in a moment; with a key of the host's, or a contract for ${JSON.stringify(tool)}, no list is needed`
  return { error: { code: CODES.upstream, message } }
}

/** What is kept of a reply; throws where there is nothing to keep. */
function outcomeOf(reply: Reply, onError: ToolTerms['onError']): JsonObject {
  if ('error' in reply) {
    if (NOT_CARRIED_OUT.has(reply.error['code'])) throw new PassedOn(reply)
    throw upstreamFailed(`it answered with an error: ${String(reply.error['message'])}`)
  }
  const { result } = reply
  // It waits for more from the client, who calls again: there is no outcome yet.
  if (result['resultType'] === 'input_required') throw new PassedOn(reply)
  if (result['isError'] !== true || onError === 'rejected') return result
  if (onError === 'not-executed') throw new PassedOn(reply)
  throw new OutcomeUnknown('the tool failed, and its contract says that this says nothing about the effect')
}

function lost(error: unknown): never {
  if (error instanceof IbidError) throw error
  throw upstreamFailed(error instanceof Error ? error.message : String(error))
}

/** Nobody knows whether it happened: where the upstream takes the key it may be sent again, otherwise it is held. */
function upstreamFailed(why: string): IbidError {
  return new IbidError(`the MCP server failed: ${why}`, {
    code: 'UPSTREAM_ERROR',
    retriable: true,
    retryAfterMs: 1_000,
    action: 'make exactly the same call again later: it will not be done twice',
  })
}

/** What the host is told in `_meta`, and what the model is shown. */
interface Told {
  readonly facts: ObservationError
  readonly shown: ObservationError
}

/** Problems go to the model as a failed call, in words that it can act on; `first` is shown where there was one. */
function problem({ facts, shown }: Told, key: string, completedAt?: number, first?: JsonObject): Reply {
  const content = [
    { type: 'text', text: JSON.stringify({ ok: false, error: withoutData(shown) }) },
    ...(Array.isArray(first?.['content']) ? (first['content'] as unknown[]) : []),
  ]
  const result = { content, isError: true, _meta: { [ERROR]: withoutData(facts) } }
  return { result: marked(result, first !== undefined, key, completedAt) }
}

function withoutData(error: ObservationError): Omit<ObservationError, 'data'> {
  const { data: _, ...rest } = error
  return rest
}

/** What a `tools/call` asks for; undefined where it names no tool. */
export function readCall(params: JsonObject): Pick<ToolCall, 'name' | 'args' | 'meta'> | undefined {
  const { name, arguments: args, _meta } = params
  if (typeof name !== 'string') return undefined
  return { name, args, meta: objectOf(_meta) }
}

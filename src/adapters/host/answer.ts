/**
 * What all adapters share: a call that a framework hands over becomes a call of the broker. The ids come from
 * the framework's own place, whatever the program adds comes on top, and the model gets back what the broker
 * shows it. Nothing is ever read out of the arguments.
 */
import { onlyKnown } from '../../core/known.js'
import { quietly } from '../../core/quietly.js'
import type { Broker, CallContext, ModelObservation, Observation } from '../../guards/broker/index.js'

/** A call as the framework hands it to a tool. */
export interface HostCall<Info> {
  readonly tool: string
  readonly args: unknown
  /** The id that the model's message gives this call. */
  readonly toolCallId: string | undefined
  /** What the framework tells a tool about the call. */
  readonly info: Info
}

export interface AdapterOptions<Info> {
  /**
   * Where in which run a call is, on whose behalf, with which rights: the same for all calls, or found out for each,
   * for example out of an AsyncLocalStorage. It goes before what the framework says.
   */
  readonly context?: CallContext | ((call: HostCall<Info>) => CallContext | Promise<CallContext>)
  /**
   * True: this program stores the model's message before its tools run, and resumes from it, so that the id of a
   * call stays the same. False: a new try asks the model again, which makes up a new id. Default: what is known
   * of the framework. It must never change between a call and its repetition.
   */
  readonly stored?: boolean
  /** The model that results are shortened for: the second argument of a contract's `outputFor`. */
  readonly model?: string
  /** Gets the whole observation, its marks included, for logs and metrics. The model never sees those. */
  readonly observe?: (observation: Observation, call: HostCall<Info>) => void
}

const KNOWN = ['context', 'stored', 'model', 'observe'] satisfies (keyof AdapterOptions<unknown>)[]

/** Asked where tools are made: by the time one is called, a model would have to be told. */
export function checkOptions<Info>(options: AdapterOptions<Info>, adapter: string): void {
  onlyKnown(options, KNOWN, adapter)
}

/** What an adapter knows from its framework. */
interface Known {
  readonly context?: CallContext | undefined
  readonly signal?: AbortSignal | null | undefined
  /** Is the message that holds the call's id kept, so that a repetition comes with the same id? */
  readonly stored: boolean
}

export async function answerCall<Info>(
  broker: Broker,
  call: HostCall<Info>,
  known: Known,
  options: AdapterOptions<Info>,
): Promise<ModelObservation> {
  const { context, stored = known.stored, observe } = options
  const added = typeof context === 'function' ? await context(call) : context
  const place: CallContext = { signal: known.signal ?? undefined, ...known.context, ...added }
  // An id counts only inside its run; one that was made up for this try counts nowhere.
  const toolCallId = stored && place.runId !== undefined ? call.toolCallId : undefined
  const { observation, shown } = await broker.answer(
    call.tool,
    call.args,
    { toolCallId, ...place },
    options.model,
  )
  quietly(() => observe?.(observation, call))
  return shown
}

/** What the program put under `ibid` into the context that its framework carries along. */
export function carriedContext(carrier: unknown): CallContext | undefined {
  if (typeof carrier !== 'object' || carrier === null || !('ibid' in carrier)) return undefined
  return carrier.ibid as CallContext
}

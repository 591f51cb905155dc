/**
 * The contract of a tool: what it promises about its effect, and what the broker may rely on. Plain data and
 * functions; `lintContract` says whether it can be true, `readTerms` turns it into what the broker works
 * with.
 */
import type { Duration } from '../../core/duration.js'
import type { CheckResult } from '../../core/policy.js'
import type { Identity, JsonSchema } from '../../key/index.js'
import type { ArgumentsOf, InputSchema, StandardSchema } from './input.js'

export const EFFECTS = ['read', 'write-idempotent', 'write-non-idempotent', 'irreversible'] as const
/**
 * `read`: changes nothing. `write-idempotent`: names a resource and leaves it in one state however often it runs.
 * `write-non-idempotent`: twice is twice, and can be undone. `irreversible`: twice is twice, and cannot.
 */
export type EffectClass = (typeof EFFECTS)[number]

/** What the outside system gives, as its own documentation says. */
export interface Downstream {
  /** Does it take our key and do the same key once? */
  readonly acceptsKey?: boolean
  /** For how long it remembers a key. */
  readonly window?: Duration
  /** How long after a time-out it may still carry out what was sent. Default: the tool's time-out. */
  readonly settles?: Duration
}

export interface Retry {
  /** Tries inside one claim, the first included. Default 3; 1 where a person has to allow a second one. */
  readonly attempts?: number
  /** The first pause; it doubles, with jitter. Default 250 ms. */
  readonly backoff?: Duration
  /** The longest pause, and the longest `Retry-After` that is waited for. Default 10 s. */
  readonly maxBackoff?: Duration
}

/** How a failure of the tool is to be read. Undefined: nobody knows whether the effect happened. */
export type FailureKind = 'rejected' | 'not-executed' | 'unknown'

/** One execution, as the tool sees it. */
export interface ToolCall<Args = unknown> {
  /** Hand it to the downstream as its idempotency key. The same for every try of this action. */
  readonly key: string
  readonly tenant: string
  readonly tool: string
  readonly args: Args
  readonly runId: string | undefined
  readonly stepId: string | undefined
  /** 1 for the first execution under this receipt; later ones took over from a process that died. */
  readonly attempt: number
  /** 1 for the first try inside this execution. */
  readonly try: number
  /** Never goes backwards for a key: a fencing token. 0 where there is no receipt. */
  readonly epoch: number
  /** Aborts when this try's time is up or its lease is lost. */
  readonly signal: AbortSignal
}

export interface Contract<Args = unknown, Result = unknown> {
  readonly name: string
  /** MAJOR.MINOR.PATCH. */
  readonly version: string
  readonly effect: EffectClass
  /** Any Standard Schema (zod, valibot, arktype, …) or a JSON Schema. */
  readonly input: InputSchema
  /** For frameworks, where `input` cannot be turned into JSON Schema by itself. */
  readonly inputJsonSchema?: JsonSchema
  readonly title?: string
  /** What the model is told the tool is for. */
  readonly description?: string
  /** Which arguments say what is meant. Default: all but those that the schema marks `non_idempotent: true`. */
  readonly identity?: Identity
  /** The right that a caller must have. */
  readonly scope?: string
  /** Decides the default window: low 24 h, high 7 d. */
  readonly value?: 'low' | 'high'
  readonly window?: Duration
  readonly lease?: Duration
  /** How long one try may take. Default 30 s. */
  readonly timeout?: Duration
  /** How long a duplicate waits for a running call. Default 10 s. */
  readonly wait?: Duration
  readonly retry?: Retry
  readonly downstream?: Downstream
  /** After an attempt that did not succeed, a person decides whether there is another. */
  readonly requiresHumanOnRetry?: boolean
  /** write-idempotent: the argument that names the resource, or a function of the arguments. Its value is the key. */
  readonly resource?: string | ((args: Args) => string | number)
  execute(args: Args, call: ToolCall<Args>): Result | Promise<Result>
  /** Asks the downstream, by the same key, whether the effect happened. */
  check?(call: ToolCall<Args>): CheckResult<Result> | Promise<CheckResult<Result>>
  /** Compensates; run by a saga. */
  undo?(result: Result, call: ToolCall<Args>): unknown
  /** Reads errors that are not Rejected, NotExecuted or OutcomeUnknown. See `oneHttpCall`. */
  classify?(error: unknown): FailureKind | undefined
  /** What the model sees of a result; the whole is stored and replayed. Pure: a replay must look the same. */
  outputFor?(result: Result, model: string | undefined): unknown
}

/** A contract that has been through `defineTool`. */
export type Tool<Args = unknown, Result = unknown> = Contract<Args, Result>

/** Types the contract's functions after its schema. Whether it can be true is decided when a broker is made. */
export function defineTool<const S extends StandardSchema, Result>(
  contract: Contract<ArgumentsOf<S>, Result> & { readonly input: S },
): Tool<ArgumentsOf<S>, Result>
export function defineTool<Args = Record<string, unknown>, Result = unknown>(
  contract: Contract<Args, Result>,
): Tool<Args, Result>
export function defineTool(contract: Contract): Tool {
  return Object.freeze({ ...contract })
}

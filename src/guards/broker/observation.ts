/**
 * The observation: one shape for every outcome of a call. `data` is the whole result, the same at every
 * replay; `_idempotency` is for the host and its logs. What the model sees is made of it by `model.ts`.
 */
import type { FieldProblem } from './field.js'

export interface ObservationError {
  /** One of ibid's codes, or the tool's own. */
  readonly code: string
  /** What happened, and what that means for the effect. */
  readonly message: string
  /** May exactly this call be made again? */
  readonly retriable: boolean
  /** When, where it may. */
  readonly retry_after_ms?: number
  /** What to do now. */
  readonly action: string
  /** INVALID_ARGUMENTS: which, and why. */
  readonly fields?: readonly FieldProblem[]
  /** What the tool said about its refusal; for PARTIAL_SUCCESS what was done; for DIVERGED_REPLAY the first call. */
  readonly data?: unknown
}

export interface IdempotencyMarks {
  /** The effect did not run for this call. */
  readonly replay: boolean
  /** Null where there is none: reads, and calls refused before they had one. */
  readonly key: string | null
  /** When the first call settled, by the store's clock. */
  readonly first_completed_at: string | null
}

export type Observation<Data = unknown> =
  | { readonly ok: true; readonly data: Data; readonly _idempotency: IdempotencyMarks }
  | { readonly ok: false; readonly error: ObservationError; readonly _idempotency: IdempotencyMarks }

/** `completedAt`: milliseconds of the store's clock. */
export function marks(replay: boolean, key: string | null, completedAt?: number): IdempotencyMarks {
  return {
    replay,
    key,
    first_completed_at: completedAt === undefined ? null : new Date(completedAt).toISOString(),
  }
}

export function refusal(error: ObservationError, key: string | null = null): Observation<never> {
  return { ok: false, error, _idempotency: marks(false, key) }
}

/**
 * What the model sees of an observation: the result as the contract's `outputFor` shortens it, or the error,
 * and nothing of the machinery. No key, no secret, no mark that tells a replay from the first answer: both
 * look the same to the last character, so that a replay starts no new thought. Cut at a size that leaves the
 * context window room.
 */
import type { Contract } from './contract.js'
import type { Observation, ObservationError } from './observation.js'
import { type Clean, redactor } from './redact.js'
import { isUnsettled, notForModels } from './words.js'

export type ModelObservation =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly error: ObservationError }

export interface ModelView {
  /** Values that no model may see, wherever they turn up: taken out of all text. */
  readonly secrets: readonly (string | RegExp)[]
  readonly maxCharacters: number
}

export function modelView(
  contract: Pick<Contract, 'outputFor' | 'effect'> | undefined,
  observation: Observation,
  model: string | undefined,
  view: ModelView,
): ModelObservation {
  const clean = redactor(view.secrets)
  const show = (made: () => unknown): unknown => {
    try {
      return fitted(plain(made(), clean, []) ?? null, view.maxCharacters)
    } catch {
      // A getter that throws, or a nesting without end. The call has ended as it has: this is no other end.
      return UNSHOWN
    }
  }
  if (observation.ok) return { ok: true, data: show(() => shortened(contract, observation.data, model)) }
  const receipted = contract?.effect === 'write-non-idempotent' || contract?.effect === 'irreversible'
  const told =
    receipted && isUnsettled(observation.error) ? notForModels(observation.error) : observation.error
  const { data, ...rest } = told
  const error = plain(rest, clean, []) as ObservationError
  if (data === undefined) return { ok: false, error }
  return { ok: false, error: { ...error, data: show(() => withFirst(contract, data, model)) } }
}

const UNSHOWN = { unavailable: 'it is there, and cannot be shown' }

function shortened(
  contract: Pick<Contract, 'outputFor'> | undefined,
  data: unknown,
  model?: string,
): unknown {
  if (!contract?.outputFor) return data
  try {
    return contract.outputFor(data, model)
  } catch {
    // The effect has happened, and its result is stored: an error here must not look like a failed call.
    return { unavailable: 'it was done; its result is recorded, and cannot be shown' }
  }
}

/** An answer that carries the first call's result carries it as the model has seen it then. */
function withFirst(
  contract: Pick<Contract, 'outputFor'> | undefined,
  data: unknown,
  model?: string,
): unknown {
  const first = (data as { readonly first?: { readonly result?: unknown } } | null)?.first
  if (first?.result === undefined) return data
  return { first: { ...first, result: shortened(contract, first.result, model) } }
}

function fitted(data: unknown, maxCharacters: number): unknown {
  const text = JSON.stringify(data) ?? ''
  if (text.length <= maxCharacters) return data
  return { shortened: true, characters: text.length, beginning: text.slice(0, maxCharacters).toWellFormed() }
}

/** As JSON carries it, with every text cleaned, names included. */
function plain(value: unknown, clean: Clean, around: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
      return clean(value)
    case 'bigint':
      return clean(String(value))
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'object':
      return value === null ? null : plainObject(value, clean, around)
    case 'boolean':
      return value
    default:
      return undefined
  }
}

function plainObject(value: object, clean: Clean, around: readonly object[]): unknown {
  if (around.includes(value)) return '[contains itself]'
  const within = [...around, value]
  const inner = (member: unknown): unknown => plain(member, clean, within)
  if (Array.isArray(value)) return value.map((item) => inner(item) ?? null)
  if (value instanceof Map) return Array.from(value, ([k, v]) => [inner(k) ?? null, inner(v) ?? null])
  if (value instanceof Set) return Array.from(value, (item) => inner(item) ?? null)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if ('toJSON' in value && typeof value.toJSON === 'function') return inner(value.toJSON())
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const shown = inner(member)
      return shown === undefined ? [] : [[clean(name), shown]]
    }),
  )
}

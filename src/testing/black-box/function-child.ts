/**
 * The script of the process in which a function under test runs: it can be killed, and what it prints stays
 * there.
 */
import { inspect } from 'node:util'
import { serve } from '../process/serve.js'

export interface FunctionOpening {
  readonly module: string
  readonly name: string
}

export interface FunctionCall {
  readonly key: string | undefined
  readonly payload: unknown
}

export type FunctionAnswer =
  | { readonly value: string }
  | {
      readonly error: {
        readonly name: string
        readonly code: string | undefined
        readonly message: string
        readonly retriable: boolean | undefined
        readonly retryAfterMs: number | undefined
      }
    }

type Callable = (key: string | undefined, payload: unknown) => unknown
type Failure = Error & { code?: unknown; retriable?: unknown; retryAfterMs?: unknown }

let target: Callable | undefined

serve(
  {
    /** Resolves to what the module exports, so that a wrong name can be told from the right ones. */
    async open({ module, name }: FunctionOpening): Promise<readonly string[]> {
      const exported = (await import(module)) as Record<string, unknown>
      if (typeof exported[name] === 'function') target = exported[name] as Callable
      return Object.keys(exported).filter((each) => typeof exported[each] === 'function')
    },
    async call({ key, payload }: FunctionCall): Promise<FunctionAnswer> {
      try {
        return { value: textOf(await (target as Callable)(key, payload)) }
      } catch (thrown) {
        return { error: describeThrown(thrown) }
      }
    },
  },
  () => undefined,
)

/** Differs where the values differ, in kind too: a Date is not the text of one. */
function textOf(value: unknown): string {
  const all = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity } as const
  return inspect(value, { ...all, compact: true, sorted: true })
}

function describeThrown(thrown: unknown): Extract<FunctionAnswer, { error: unknown }>['error'] {
  const error = (thrown instanceof Error ? thrown : new TypeError(String(thrown))) as Failure
  return {
    name: error.name,
    code: typeof error.code === 'string' ? error.code : undefined,
    message: error.message,
    retriable: typeof error.retriable === 'boolean' ? error.retriable : undefined,
    retryAfterMs: typeof error.retryAfterMs === 'number' ? error.retryAfterMs : undefined,
  }
}

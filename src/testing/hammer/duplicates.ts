/** Many duplicates of one call at once, each tried again like a well-behaved client would. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from '../process/serve.js'

export type Answered = { readonly retries: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly code?: string } }
)

export async function callAll(
  call: (n: number) => unknown,
  calls: number,
  from: number,
  retries: number,
): Promise<readonly Answered[]> {
  return await Promise.all(
    Array.from({ length: calls }, async (_, i) => await persist(call, from + i, retries)),
  )
}

async function persist(call: (n: number) => unknown, n: number, most: number): Promise<Answered> {
  for (let retries = 0; ; retries++) {
    try {
      return { value: await call(n), retries }
    } catch (error) {
      if (retries >= most || !isRetriable(error)) return { error: describe(error), retries }
      await sleep(error.retryAfterMs ?? 50)
    }
  }
}

function isRetriable(error: unknown): error is { readonly retryAfterMs?: number } {
  return error instanceof Error && 'retriable' in error && error.retriable === true
}

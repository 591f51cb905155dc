/** A policy whose status check answers with a Response, made into one that answers with what a receipt keeps. */
import type { Policy } from '../../core/policy.js'
import { type Kept, keep } from './kept.js'
import { createRecorder } from './recorder.js'

export function keptByCheck(
  policy: Policy<Response> | undefined,
  allowed: ReadonlySet<string>,
  maxBytes: number,
): Policy<Kept> | undefined {
  if (policy === undefined) return undefined
  const { recovery, ...rest } = policy
  if (recovery === undefined) return rest
  if (typeof recovery !== 'object') return { ...rest, recovery }
  return {
    ...rest,
    recovery: {
      async check(attempt) {
        const result = await recovery.check(attempt)
        if (result.found !== true) return result
        return { found: true, value: await keepResponse(result.value, allowed, maxBytes) }
      },
    },
  }
}

async function keepResponse(
  response: Response,
  allowed: ReadonlySet<string>,
  maxBytes: number,
): Promise<Kept> {
  const recorder = createRecorder(maxBytes)
  recorder.add(new Uint8Array(await response.arrayBuffer()))
  const { status, headers } = response
  return keep({ status, headers: [headers], body: recorder.body(), bytes: recorder.bytes }, allowed)
}

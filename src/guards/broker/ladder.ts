/**
 * The key ladder: from what a host knows about a call to the key of its receipt, the most stable id first. A
 * step id outlives everything; a tool-call id lives as long as the stored message that holds it; a host's own
 * key is as good as the host; the arguments alone cannot tell a retry from a wish to do it again, so that
 * rung asks.
 *
 * On the first three rungs the arguments are not in the key but in the fingerprint: a step that comes back
 * with other arguments meets its own receipt, and is found out. So does whoever brings a host's key on behalf of
 * somebody else: two who chose one key are told so, and neither is shown what the other did.
 */
import { invalidIntent } from '../../core/errors.js'
import { deriveKey, fingerprint, type Identity, type KeyParts } from '../../key/index.js'
import type { Caller } from './context.js'

export type Rung = 'step' | 'tool-call' | 'host' | 'arguments'

export interface StepKey {
  readonly key: string
  readonly rung: Rung
}

const LAYER = 'tool'

/** `correction`: how many calls of this step were refused for good before this one, and replaced by it. */
export function stepKey(
  caller: Caller,
  tool: string,
  args: unknown,
  identity?: Identity,
  correction = 0,
): StepKey {
  const { tenant, runId, stepId, toolCallId, hostKey, principal, ordinal = 0 } = caller
  if (stepId !== undefined) {
    const run = mustRun(runId, 'stepId')
    // Written out: this is the rung that most calls stand on, and spreading costs more than hashing.
    const parts = { tenant, layer: LAYER, tool, ordinal, run, step: stepId }
    return { rung: 'step', key: keyOf(parts, correction) }
  }
  const place = { tenant, layer: LAYER, tool, ordinal }
  if (toolCallId !== undefined) {
    const run = mustRun(runId, 'toolCallId')
    return { rung: 'tool-call', key: keyOf({ ...place, run, call: toolCallId }, correction) }
  }
  if (hostKey !== undefined) return { rung: 'host', key: keyOf({ ...place, host: hostKey }, correction) }
  if (runId === undefined && principal === undefined) {
    throw invalidIntent(
      'the context names no run, no step, no tool-call id, no key of the host and no principal',
      'pass { runId, stepId }; whatever you pass must stay the same when the same call is tried again',
    )
  }
  const who = { ...(runId && { run: runId }), ...(principal && { principal }) }
  return { rung: 'arguments', key: deriveKey({ ...place, ...who }, args, identity) }
}

/** What is compared with the first call under a key. */
export function comparedOf(
  rung: Rung,
  principal: string | undefined,
  args: unknown,
  identity: Identity | undefined,
): { readonly payload: unknown; readonly identity?: Identity } {
  if (rung === 'host' && principal !== undefined)
    return { payload: { principal, args: fingerprint(args, identity) } }
  return identity ? { payload: args, identity } : { payload: args }
}

function keyOf(parts: KeyParts, correction: number): string {
  return deriveKey(correction === 0 ? parts : { ...parts, correction }, null)
}

/** A step or a tool-call id is only unique inside its run. */
function mustRun(runId: string | undefined, given: string): string {
  if (runId !== undefined) return runId
  throw invalidIntent(
    `the context has a ${given} and no runId`,
    `pass the run or conversation that the ${given} belongs to`,
  )
}

/**
 * Calls that need no receipt: reads, and writes that name their resource and leave it in one state however
 * often they run. They pass through, with the same time-outs and retries.
 */
import type { Contract } from './contract.js'
import { marks, type Observation, refusal } from './observation.js'
import type { Desk, Order } from './receipted.js'
import { runTries } from './tries.js'
import { errorOf, invalidArguments } from './words.js'

export async function callDirectly(desk: Desk, { tool, caller, args }: Order): Promise<Observation> {
  const { contract, terms } = tool
  const key = contract.effect === 'read' ? null : named(desk, contract, args)
  if (key === undefined)
    return refusal(invalidArguments([{ field: fieldOf(contract.resource), message: NO_RESOURCE }]))
  try {
    const data = await runTries({
      contract,
      terms,
      pace: desk.pace,
      base: {
        key: key ?? '',
        tenant: caller.tenant,
        tool: contract.name,
        args,
        runId: caller.runId,
        stepId: caller.stepId,
        attempt: 1,
        epoch: 0,
      },
      outer: () => (contract.effect === 'read' ? caller.signal : undefined),
      onError: (error) => desk.onError(error, contract.name),
    })
    return { ok: true, data, _idempotency: marks(false, key) }
  } catch (error) {
    return refusal(errorOf(error), key)
  }
}

const NO_RESOURCE = 'names no resource: give its id'

/** A function that looks for what these arguments do not have has found no resource: a model may have left it out. */
function named(desk: Desk, { resource, name }: Contract, args: unknown): string | undefined {
  try {
    return resourceOf(resource, args)
  } catch (error) {
    desk.onError(error, name)
    return undefined
  }
}

function resourceOf(resource: unknown, args: unknown): string | undefined {
  const id: unknown =
    typeof resource === 'function'
      ? (resource as (args: unknown) => unknown)(args)
      : fieldOf(resource)
          .split('.')
          .reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], args)
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined
}

function fieldOf(resource: unknown): string {
  return typeof resource === 'string' ? resource : ''
}

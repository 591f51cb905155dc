/**
 * A call whose outcome the server can be asked for. It is made as the broker makes one: tried once, and where that
 * says nothing about the effect, the status tool is asked until the server has had its time. An answer that comes
 * late counts for more than any check.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { NotExecuted } from '../../core/errors.js'
import type { Attempt, CheckResult, Policy } from '../../core/policy.js'
import { ask } from '../../guards/broker/ambiguity.js'
import type { Execution } from '../../guards/broker/one-try.js'
import { runTries } from '../../guards/broker/tries.js'
import type { Identity } from '../../key/index.js'
import type { JsonObject, Reply } from './message.js'
import { argumentsOf, resultIn } from './status-check.js'
import type { ToolTerms } from './tool-terms.js'

/** Calls a tool of the server, on behalf of the client whose call is being looked into. */
export type Ask = (tool: string, args: JsonObject) => Promise<Reply>

export interface CheckedCall {
  readonly tool: string
  readonly args: unknown
  readonly effect: ToolTerms['effect']
  readonly identity: Identity | undefined
  readonly asking: NonNullable<ToolTerms['asking']>
  readonly ask: Ask
  /** The key that is handed down, of a receipt's own key. */
  readonly keyFor: (own: string) => string
  /** Sends it. */
  readonly send: (key: string) => Promise<Reply>
  /** What is kept of a reply; throws NotExecuted where it was not carried out, anything else where nobody knows. */
  readonly outcomeOf: (reply: Reply) => JsonObject
}

const PACE = {
  elapsedMs: () => performance.now(),
  pause: (ms: number) => sleep(ms),
  random: Math.random,
} as const

export function checkedCall(given: CheckedCall): {
  readonly run: (attempt: Attempt) => Promise<JsonObject>
  readonly within: (policy: Policy) => Policy
} {
  const { asking, tool, args } = given
  let came: Reply | undefined

  async function execute(key: string): Promise<JsonObject | NotExecuted> {
    const sent = given.send(key)
    void sent.then(
      (reply) => void (came = reply),
      () => undefined,
    )
    try {
      return given.outcomeOf(await sent)
    } catch (error) {
      // Certain, so that there is nothing to ask about: it goes round the broker, which would ask a person.
      if (error instanceof NotExecuted) return error
      throw error
    }
  }

  async function check(key: string): Promise<CheckResult<JsonObject>> {
    const early = arrived()
    if (early) return early
    const asked = argumentsOf(asking.check, { key, args }, given.identity)
    const said = await given.ask(asking.check.tool, asked)
    return arrived() ?? resultIn(asking.check, said)
  }

  function arrived(): CheckResult<JsonObject> | undefined {
    try {
      return came && { found: true, value: given.outcomeOf(came) }
    } catch {
      return undefined
    }
  }

  function executionOf(attempt: Attempt): Execution {
    const key = given.keyFor(attempt.key)
    return {
      contract: {
        name: tool,
        version: '0.0.0',
        effect: given.effect,
        input: { type: 'object' },
        execute: () => execute(key),
        check: () => check(key),
      },
      terms: asking.terms,
      pace: PACE,
      base: {
        key,
        tenant: attempt.tenant,
        tool,
        args,
        runId: undefined,
        stepId: undefined,
        attempt: attempt.number,
        epoch: attempt.epoch,
      },
      outer: () => attempt.signal,
      onError: () => undefined,
    }
  }

  return {
    async run(attempt) {
      const ended = await runTries(executionOf(attempt))
      if (ended instanceof NotExecuted) throw ended
      return ended as JsonObject
    },
    /** After a crash, and for a call that is held, the next one asks; where a person decides, nobody does. */
    within(policy) {
      const { repeatable, human } = asking.terms
      if (repeatable || human) return policy
      const recovery = {
        check: (attempt: Attempt) => ask(executionOf(attempt), () => check(given.keyFor(attempt.key))),
      }
      return { ...policy, recovery }
    },
  }
}

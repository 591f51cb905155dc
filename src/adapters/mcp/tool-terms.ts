/**
 * What is known of an upstream's tool, and what follows from it. A contract says it; without one the tool's own
 * annotations do, which are hints of a server that nobody vouches for: the worst they can do is to switch the
 * guard off for a tool, so they can be ignored. A tool that says nothing is a write that must not be repeated.
 */
import { invalidIntent } from '../../core/errors.js'
import type { Policy } from '../../core/policy.js'
import { declaredNames, withoutPretence } from '../../guards/broker/arguments.js'
import { type Contract, type EffectClass, EFFECTS, type FailureKind } from '../../guards/broker/contract.js'
import { lintContract } from '../../guards/broker/lint.js'
import { markedIdentity } from '../../guards/broker/marked.js'
import { readTerms, type ToolTerms as BrokerTerms } from '../../guards/broker/terms.js'
import type { Identity, JsonSchema } from '../../key/index.js'
import { isObject, type JsonObject } from './message.js'
import { type McpCheck, readCheck } from './status-check.js'

/** The part of a contract that can be said about a tool whose code is elsewhere. */
export type McpContract = Pick<Contract, 'name' | 'effect'> &
  Partial<
    Pick<
      Contract,
      | 'version'
      | 'title'
      | 'description'
      | 'input'
      | 'identity'
      | 'value'
      | 'window'
      | 'lease'
      | 'timeout'
      | 'wait'
      | 'downstream'
      | 'requiresHumanOnRetry'
      | 'resource'
    >
  > & {
    /**
     * What a result with `isError` says about the effect. `rejected` (the default): it is over, and every duplicate
     * gets the same result. `not-executed`: the same call may run again. `unknown`: it is asked about with `check`,
     * or a person decides.
     */
    readonly onError?: FailureKind
    /** How to ask the server whether it happened. */
    readonly check?: McpCheck
  }

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly annotations?: JsonObject
  readonly inputSchema?: JsonSchema
}

/** Undefined: it is on no list, or nobody looked. `not told`: the server could not be asked. */
export type Listing = ListedTool | undefined | 'not told'

export interface ToolTerms {
  readonly effect: EffectClass
  readonly onError: FailureKind
  readonly identity: Identity | undefined
  readonly policy: Policy
  /** Where nothing but the arguments tells a retry from a repeat, they are compared for a short while only. */
  readonly shortPolicy: Policy
  /** The arguments without what a model may have slipped in to pass for another call. */
  readonly meant: (args: unknown) => unknown
  /** Where the server can be asked: how, and what the broker makes of the times. */
  readonly asking: { readonly check: McpCheck; readonly terms: BrokerTerms } | undefined
}

const SHORT_MS = 10 * 60_000
const TIMEOUT_MS = 5 * 60_000
const LEASE_MS = 30_000
/** A promise that the gateway could not keep (a right, retries) is refused, not overlooked. */
const KNOWN = new Set([
  'name',
  'version',
  'title',
  'description',
  'input',
  'resource',
  'effect',
  'identity',
  'value',
  'window',
  'lease',
  'timeout',
  'wait',
  'downstream',
  'requiresHumanOnRetry',
  'onError',
  'check',
])

export function termsOf(contract: McpContract | undefined, listed: ListedTool | undefined): ToolTerms {
  const effect = contract?.effect ?? hintedEffect(listed?.annotations)
  const whole = asContract({ name: 'tool', ...contract, effect })
  const read = readTerms(whole)
  const policy = contract?.check
    ? read.policy
    : { ...read.policy, timeout: contract?.timeout ?? TIMEOUT_MS, lease: contract?.lease ?? LEASE_MS }
  const schema = listed?.inputSchema
  const declared = declaredNames(schema)
  return {
    effect,
    onError: contract?.onError ?? 'rejected',
    identity: contract?.identity ?? markedIdentity(schema),
    policy,
    shortPolicy: { ...policy, window: Math.min(read.windowMs, SHORT_MS) },
    meant: (args) => withoutPretence(args, declared),
    asking: contract?.check && { check: contract.check, terms: read },
  }
}

function hintedEffect(annotations: JsonObject = {}): EffectClass {
  if (annotations['readOnlyHint'] === true) return 'read'
  return annotations['idempotentHint'] === true ? 'write-idempotent' : 'write-non-idempotent'
}

/** Refuses, at start-up, what cannot be true or is not a contract. */
export function readContracts(contracts: readonly McpContract[] = []): ReadonlyMap<string, McpContract> {
  const read = new Map<string, McpContract>()
  for (const contract of contracts) {
    if (!isObject(contract) || typeof contract.name !== 'string' || !EFFECTS.includes(contract.effect)) {
      throw invalidIntent(
        'a contract has no name or no effect',
        `give { name, effect: ${EFFECTS.join(' | ')} }`,
      )
    }
    const { name } = contract
    const strange = Object.keys(contract).find((field) => !KNOWN.has(field))
    if (strange !== undefined) {
      throw invalidIntent(
        `the contract of ${JSON.stringify(name)} has a field ${JSON.stringify(strange)}`,
        `use any of ${[...KNOWN].join(', ')}`,
      )
    }
    if (read.has(name)) {
      throw invalidIntent(`there are two contracts for ${JSON.stringify(name)}`, 'leave one of them out')
    }
    if (contract.check !== undefined) readCheck(name, contract.check, contract.identity)
    const lie = lintContract(asContract(contract)).find(({ level }) => level === 'error')
    if (lie) throw invalidIntent(`the contract of ${JSON.stringify(name)}: ${lie.message}`, lie.remedy)
    readTerms(asContract(contract))
    read.set(name, contract)
  }
  for (const { name, check } of read.values()) {
    if (check && (read.get(check.tool)?.effect ?? 'read') !== 'read') {
      throw invalidIntent(
        `the check of ${JSON.stringify(name)} is ${JSON.stringify(check.tool)}, which by its own contract writes`,
        'name a tool that reads',
      )
    }
  }
  return read
}

/** As the broker reads it; the code is the upstream's, one request a call. */
function asContract(contract: McpContract): Contract {
  const { onError: _, check, ...said } = contract
  return {
    version: '0.0.0',
    input: { type: 'object' },
    retry: { attempts: 1 },
    ...(said.effect === 'write-idempotent' ? { resource: () => 'the arguments name it' } : {}),
    ...said,
    ...(check && { timeout: said.timeout ?? TIMEOUT_MS, check: () => ({ found: 'unclear' as const }) }),
    execute: () => undefined,
  }
}

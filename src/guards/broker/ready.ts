/** A contract made ready: schema compiled, durations read, identity known. Done once, when the broker is made. */
import { IbidError } from '../../core/errors.js'
import type { Policy } from '../../core/policy.js'
import type { Identity } from '../../key/index.js'
import { declaredNames } from './arguments.js'
import type { Contract, Tool } from './contract.js'
import { type Input, readInput } from './input.js'
import { type Finding, lintContract } from './lint.js'
import { markedIdentity } from './marked.js'
import { readTerms, type ToolTerms } from './terms.js'

export interface ReadyTool {
  readonly contract: Contract
  readonly terms: ToolTerms
  readonly input: Input
  readonly declared: ReadonlySet<string> | undefined
  readonly identity: Identity | undefined
  /** The scope of its receipts. */
  readonly scope: string
  /** Where nothing but the arguments tells a retry from a repeat, they are compared for a short while only. */
  readonly shortPolicy: Policy
}

const SHORT_MS = 10 * 60_000

export function makeReady(tools: readonly Tool[]): ReadonlyMap<string, ReadyTool> {
  const problems = tools.flatMap((tool) => errorsOf(tool))
  const names = tools.map(({ name }) => name)
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at))
  for (const name of twice) problems.push(`${name}: DUPLICATE_NAME: two tools have this name; rename one`)
  if (problems.length > 0) throw refusedContracts(problems)
  return new Map(tools.map((tool) => [tool.name, readyTool(tool)]))
}

function errorsOf(tool: Tool): string[] {
  return lintContract(tool)
    .filter(({ level }) => level === 'error')
    .map((finding) => `${tool.name}: ${said(finding)}`)
}

function said({ code, message, remedy }: Finding): string {
  return `${code}: ${message}; ${remedy}`
}

function refusedContracts(problems: readonly string[]): IbidError {
  return new IbidError(
    `${problems.length} promises of the tools cannot be kept; nothing was started:\n- ${problems.join('\n- ')}`,
    {
      code: 'INVALID_CONTRACT',
      retriable: false,
      action: 'correct the contracts as the message says; lintContract shows the same findings',
    },
  )
}

function readyTool(contract: Contract): ReadyTool {
  const terms = readTerms(contract)
  const input = readInput(contract.input, contract.inputJsonSchema)
  return {
    contract,
    terms,
    input,
    declared: declaredNames(input.jsonSchema),
    identity: contract.identity ?? markedIdentity(input.jsonSchema),
    scope: `tool:${contract.name}`,
    shortPolicy: { ...terms.policy, window: Math.min(terms.windowMs, SHORT_MS) },
  }
}

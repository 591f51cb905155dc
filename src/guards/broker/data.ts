/**
 * Contracts as data, for tools that live elsewhere: JSON or YAML text that says what a tool promises, and an
 * executor in this program that reaches it. Names may be written `acceptsKey` or `accepts_key`. What the text
 * promises of a check or an undo, the executor must have.
 */
import { createRequire } from 'node:module'
import { IbidError, invalidIntent } from '../../core/errors.js'
import { type JsonSchema, parseStrict } from '../../key/index.js'
import { type Contract, defineTool, type Tool } from './contract.js'

type Functions = 'execute' | 'check' | 'undo' | 'classify' | 'outputFor'

/** How a tool that lives elsewhere is reached. */
export type Executor = Pick<Contract, Functions>

export type ContractData = Omit<Contract, Functions | 'input' | 'resource'> & {
  readonly input: JsonSchema
  readonly resource?: string
  /** The tool can be asked whether it happened. */
  readonly check?: boolean
  /** The tool can be undone. */
  readonly undo?: boolean
}

const load = createRequire(import.meta.url)
const NESTED = new Set(['downstream', 'retry'])

/** One contract or a list of them, out of JSON or YAML. Whether they can be true is looked at where they are used. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- two kinds are read, and each is checked there
export function readContracts<C = ContractData>(text: string): readonly C[] {
  const found = parse(text)
  const list: readonly unknown[] = Array.isArray(found) ? found : [found]
  return list.map((data, at) => camelCased(data, `contract ${at + 1}`) as unknown as C)
}

export function toolFromData(data: ContractData, executor: Executor): Tool {
  const { check, undo, ...rest } = data
  const promised = { check, undo }
  for (const name of ['check', 'undo'] as const) {
    if (promised[name] === true && typeof executor[name] !== 'function') {
      throw invalidIntent(
        `the contract of ${data.name} promises ${name === 'check' ? 'a check' : 'an undo'}, and its executor has none`,
        `give the executor ${name}, or take ${name} out of the contract`,
      )
    }
  }
  const { classify, outputFor } = executor
  return defineTool({
    ...rest,
    execute: (args, call) => executor.execute(args, call),
    ...(check === true && { check: (call) => executor.check?.(call) ?? { found: 'unclear' as const } }),
    ...(undo === true && { undo: (result, call) => executor.undo?.(result, call) }),
    ...(classify && { classify: (error) => classify(error) }),
    ...(outputFor && { outputFor: (result, model) => outputFor(result, model) }),
  } satisfies Contract)
}

function parse(text: string): unknown {
  try {
    return /^\s*[[{]/.test(text) ? parseStrict(text) : parseYaml(text)
  } catch (error) {
    if (error instanceof IbidError) throw error
    throw invalidIntent(
      `the contracts cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      'write them as JSON, or as YAML with the package yaml installed',
    )
  }
}

function parseYaml(text: string): unknown {
  const { parse } = load('yaml') as { parse(text: string, options: object): unknown }
  return parse(text, { uniqueKeys: true, maxAliasCount: 100 })
}

/** Names of a contract's own fields; what is inside a schema or an identity is left as it is. */
function camelCased(data: unknown, where: string): Record<string, unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw invalidIntent(`${where} is not an object`, 'write each contract as name, version, effect, input, …')
  }
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [camel, NESTED.has(camel) ? camelCased(value, `${where}.${name}`) : (value as unknown)]
    }),
  )
}

/**
 * Is a contract one that can be kept? Promises that contradict each other, that the downstream does not give,
 * or that leave nobody able to find out what happened are errors: a broker does not start with them. Warnings
 * are choices that are allowed, and that somebody should have made on purpose.
 */
import { declaredNames } from './arguments.js'
import type { Contract } from './contract.js'
import { jsonSchemaOf } from './input.js'
import { identityRules } from './lint-identity.js'
import { promiseRules } from './lint-promises.js'
import { shapeFindings } from './lint-shape.js'
import { readTerms, type ToolTerms } from './terms.js'

export interface Finding {
  readonly level: 'error' | 'warning'
  readonly code: string
  /** What is promised, and why that cannot be. */
  readonly message: string
  readonly remedy: string
}

/** A contract whose shape is right, with what can be read out of it. */
export interface Read {
  readonly contract: Contract
  readonly terms: ToolTerms
  /** The arguments that the schema declares, with their own schemas; undefined where it cannot say. */
  readonly fields: ReadonlyMap<string, Readonly<Record<string, unknown>>> | undefined
  /** It lets arguments through that it does not declare, and says so. */
  readonly open: boolean
  readonly required: readonly unknown[]
}

export interface Rule {
  readonly level: Finding['level']
  readonly code: string
  /** The message, where the rule is broken. */
  readonly breach: (read: Read) => string | false | undefined
  readonly remedy: string
}

const RULES: readonly Rule[] = [...promiseRules, ...identityRules]

export function lintContract(contract: Contract): readonly Finding[] {
  const shape = shapeFindings(contract)
  if (shape.some(({ level }) => level === 'error')) return shape
  const read = readAll(contract)
  return RULES.flatMap(({ level, code, breach, remedy }) => {
    const message = breach(read)
    return message ? [{ level, code, message, remedy }] : []
  })
}

function readAll(contract: Contract): Read {
  const schema = contract.inputJsonSchema ?? jsonSchemaOf(contract.input)
  const json = (typeof schema === 'object' ? schema : {}) as {
    readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly required?: readonly unknown[]
    readonly additionalProperties?: unknown
  }
  const { properties = {}, required = [], additionalProperties = false } = json
  return {
    contract,
    terms: readTerms(contract),
    fields: declaredNames(schema) && new Map(Object.entries(properties)),
    open: additionalProperties !== false,
    required,
  }
}

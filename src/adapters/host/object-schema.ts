/**
 * The schema that a model is shown. Frameworks get it as plain JSON Schema, so that they pass arguments on as
 * they come: the broker is the one that checks them, and says what is wrong in words that a model acts on.
 */
import { invalidIntent } from '../../core/errors.js'
import type { ToolCard } from '../../guards/broker/index.js'

export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

export function objectSchema({ name, inputSchema }: ToolCard): ObjectSchema {
  // A copy: zod hangs itself onto what it makes, unseen, and a framework then takes it for more than a schema.
  if (typeof inputSchema === 'object' && inputSchema['type'] === 'object')
    return { ...inputSchema, type: 'object' }
  throw invalidIntent(
    `the input of ${name} ${inputSchema === undefined ? 'cannot be written as JSON Schema' : 'is not an object'}`,
    `give the contract of ${name} an inputJsonSchema of type object: models call tools with named arguments`,
  )
}

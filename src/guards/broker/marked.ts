/** Arguments that the schema itself marks as made up anew at every try: `non_idempotent: true`. */
import type { Identity, JsonSchema } from '../../key/index.js'

/** Only where there is a mark: a schema without one means that everything counts. */
export function markedIdentity(schema: JsonSchema | undefined): Identity | undefined {
  const marked = schema !== undefined && JSON.stringify(schema).includes('"non_idempotent":true')
  return marked ? { schema } : undefined
}

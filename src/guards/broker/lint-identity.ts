/**
 * Which arguments say what is meant. Leaving out an amount, a destination or a choice makes two different
 * actions one; leaving in what a model makes up anew makes one action two. A key among the arguments is
 * neither.
 */
import { IbidError } from '../../core/errors.js'
import { fingerprint, type Identity } from '../../key/index.js'
import { looksLikeKey } from './arguments.js'
import { jsonSchemaOf } from './input.js'
import type { Read, Rule } from './lint.js'
import { markedIdentity } from './marked.js'

/** The last word of a name that says what is meant, and names that a model words anew at every try. */
const TARGET = ending(
  'amount currency price total quantity qty destination recipient payee to account iban address email phone id',
)
const NOISE = wholly(
  'reason note notes comment timestamp now nonce explanation thought reasoning justification',
  'trace_id request_id correlation_id session_id span_id message_id conversation_id tool_call_id',
)

function ending(list: string): RegExp {
  return new RegExp(`(?:^|_)(?:${list.replaceAll(' ', '|')})$`)
}

function wholly(...lists: readonly string[]): RegExp {
  return new RegExp(`^(?:${lists.join(' ').replaceAll(' ', '|')})$`)
}

const words = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()

export const identityRules: readonly Rule[] = [
  {
    level: 'error',
    code: 'MODEL_SUPPLIES_KEY',
    breach: ({ fields }) => {
      const keys = [...(fields?.keys() ?? [])].filter(looksLikeKey)
      return (
        keys.length > 0 &&
        `its schema asks the model for ${keys.join(', ')}: a model makes up a new one at every try`
      )
    },
    remedy: 'take it out of the schema, and use call.key in execute',
  },
  {
    level: 'error',
    code: 'IDENTITY_INVALID',
    breach: (read) => identityProblem(read),
    remedy: "write identity as { ignore: ['reason'] }, { include: ['order_id', 'amount'] } or { schema }",
  },
  {
    level: 'error',
    code: 'IDENTITY_TWICE',
    breach: ({ contract }) =>
      contract.identity !== undefined &&
      !('schema' in contract.identity) &&
      marksOf(contract) !== undefined &&
      'it has an identity, and marks in its schema that say something else',
    remedy: 'declare ignored arguments in one place: identity, or non_idempotent marks in the schema',
  },
  {
    level: 'error',
    code: 'IDENTITY_NAMES_NOTHING',
    breach: (read) => {
      const lost = namedFields(read.contract.identity).filter(
        (name) => read.fields && !read.open && !read.fields.has(name),
      )
      return lost.length > 0 && `identity names ${lost.join(', ')}, which the schema does not have`
    },
    remedy: 'correct the name: as it is, the field that is meant still counts, or nothing does',
  },
  {
    level: 'error',
    code: 'IDENTITY_IGNORES_ALL',
    breach: (read) =>
      ignoredFields(read).length > 0 &&
      ignoredFields(read).length === read.fields?.size &&
      'no argument is left that tells one call from another',
    remedy: 'let resource ids, amounts, destinations and choices count',
  },
  {
    level: 'error',
    code: 'IDENTITY_IGNORES_TARGET',
    breach: (read) => {
      const lost = ignoredFields(read).filter((name) => isTarget(name, read.fields?.get(name)))
      return (
        lost.length > 0 &&
        `${lost.join(', ')} does not count: a call with another ${lost[0] ?? ''} would be taken for a duplicate`
      )
    },
    remedy:
      'let resource ids, amounts, destinations and choices count; ignore only what a model makes up anew',
  },
  {
    level: 'warning',
    code: 'IDENTITY_KEEPS_NOISE',
    breach: (read) => {
      const ignored = new Set(ignoredFields(read))
      const noise = [...(read.fields?.keys() ?? [])].filter(
        (name) => NOISE.test(words(name)) && !ignored.has(name),
      )
      return (
        read.terms.receipted &&
        noise.length > 0 &&
        `${noise.join(', ')} counts, and a model words it anew: a resumed step will be reported as diverged`
      )
    },
    remedy: 'put it into identity.ignore, or mark it non_idempotent: true in the schema',
  },
]

function isTarget(name: string, schema: Readonly<Record<string, unknown>> | undefined): boolean {
  const choice = schema !== undefined && ('enum' in schema || 'const' in schema)
  return choice || (TARGET.test(words(name)) && !NOISE.test(words(name)))
}

function marksOf(contract: Read['contract']): Identity | undefined {
  return markedIdentity(contract.inputJsonSchema ?? jsonSchemaOf(contract.input))
}

/** Tried out rather than read, so that it holds for every way of declaring. */
function ignoredFields({ contract, fields }: Read): readonly string[] {
  const identity = contract.identity ?? marksOf(contract)
  if (!identity || !fields || identityProblem({ contract })) return []
  return [...fields.keys()].filter(
    (name) => printOf({ [name]: 1 }, identity) === printOf({ [name]: 2 }, identity),
  )
}

/** Undefined: nothing in it counts. */
function printOf(payload: unknown, identity: Identity): string | undefined {
  try {
    return fingerprint(payload, identity)
  } catch (error) {
    if (error instanceof IbidError && MATCHES_NOTHING.test(error.message)) return undefined
    throw error
  }
}

const MATCHES_NOTHING = /^identity\.include matches nothing/

function identityProblem({ contract }: Pick<Read, 'contract'>): string | undefined {
  const identity = contract.identity ?? marksOf(contract)
  if (identity === undefined) return undefined
  try {
    printOf({}, identity)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace('; nothing was executed', '') : undefined
  }
}

function namedFields(identity: Identity | undefined): readonly string[] {
  const paths =
    identity && ('ignore' in identity ? identity.ignore : 'include' in identity ? identity.include : [])
  const heads = (paths ?? []).map((path) => (typeof path === 'string' ? path.split('.') : path)[0] as string)
  return heads.filter((head) => head !== '*')
}

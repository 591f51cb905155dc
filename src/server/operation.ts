/** Short ways to write down an operation of OpenAPI 3.1. */
import { ref } from './schemas.js'

type Schema = Readonly<Record<string, unknown>>

export interface Sketch {
  readonly id: string
  readonly summary: string
  readonly query?: Readonly<Record<string, string>>
  /** Query parameters that have to be there. */
  readonly needs?: readonly string[]
  /** Schemas of the body: the first alone, the second in a batch under this name. */
  readonly body?: { readonly one?: string; readonly many?: readonly [name: string, of: string] }
  /** By status, the name of a schema. */
  readonly answers: Readonly<Record<number, string | readonly string[]>>
  readonly problems?: readonly number[]
  /** What a 200 is, where it is no JSON. */
  readonly type?: string
}

const ALWAYS = [400, 401, 403, 413, 429, 503]

export function operation(sketch: Sketch): Schema {
  const {
    id,
    summary,
    query = {},
    needs = [],
    body,
    answers,
    problems = [],
    type = 'application/json',
  } = sketch
  const good = Object.entries(answers).map(([status, names]) => {
    const all = [names].flat().map(ref)
    const schema = all.length === 1 ? all[0] : { oneOf: all }
    return [
      status,
      {
        description: summary,
        content: { [type]: { schema: type === 'application/json' ? schema : { type: 'string' } } },
      },
    ]
  })
  const bad = [...ALWAYS, ...problems].map((status) => [
    status,
    { description: MEANING[status], content: { 'application/problem+json': { schema: ref('Problem') } } },
  ])
  return {
    operationId: id,
    summary,
    parameters: Object.entries(query).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      required: needs.includes(name),
      schema: { type: 'string' },
    })),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: bodyOf(body) } } },
    }),
    responses: Object.fromEntries([...good, ...bad]) as Schema,
  }
}

function bodyOf({ one, many }: NonNullable<Sketch['body']>): Schema | undefined {
  const schemas = [
    ...(one === undefined ? [] : [ref(one)]),
    ...(many === undefined
      ? []
      : [
          {
            type: 'object',
            properties: { [many[0]]: { type: 'array', items: ref(many[1]), minItems: 1 } },
            required: [many[0]],
            additionalProperties: false,
          },
        ]),
  ]
  return schemas.length === 1 ? schemas[0] : { oneOf: schemas }
}

const MEANING: Readonly<Record<number, string>> = {
  400: 'Something in the request cannot be understood; `detail` names it',
  401: 'No key, or none that is good',
  403: 'The key has not the right, or is for another tenant',
  404: 'There is nothing',
  409: 'In flight (`RETRY_IN_FLIGHT`), held (`OUTCOME_UNKNOWN`), lost (`LEASE_LOST`) or not held (`NOT_HELD`)',
  413: 'Too long, or too many items',
  422: 'The key belongs to another payload (`KEY_REUSED`)',
  429: 'Too much at once; `Retry-After` says when',
  503: 'The store does not answer, or the server is stopping; nothing was executed',
}

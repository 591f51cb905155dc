/**
 * A body that is one item, or a list of them under a name. One item answers with its own status; of a list each
 * has its status beside it, and one that is refused does not hold up the others.
 */
import type { IbidError } from '../core/errors.js'
import { type Fields, objectOf } from './fields.js'
import { problemOf, refusal } from './problem.js'
import type { Answer, ApiRequest } from './route.js'
import { invalidIntent } from '../core/errors.js'
import { whoseLimit } from './tenant-of.js'

/** `tenantsOf` what limits count is asked for before anything is done. */
export async function oneOrMany(
  request: ApiRequest,
  listName: string,
  run: (item: Fields) => Promise<Answer>,
): Promise<Answer> {
  const { at, principal, body } = request
  const fields = objectOf(body, 'the body')
  const whose = whoseLimit(principal)
  if (!(listName in fields)) {
    at.limits.spend(whose, 1)
    return await run(fields)
  }
  objectOf(body, 'the body', [listName])
  const items = fields[listName]
  if (!Array.isArray(items) || items.length === 0) {
    throw invalidIntent(`${listName} is not a list of at least one`, `send { "${listName}": [ … ] }`)
  }
  if (items.length > at.settings.maxBatch) throw tooMany(items.length, at.settings.maxBatch)
  at.limits.spend(whose, items.length)
  const results = await Promise.all(
    items.map(async (item, index) => await oneOf(item, `${listName}[${index}]`, run)),
  )
  return { status: 200, body: { results } }
}

async function oneOf(item: unknown, field: string, run: (item: Fields) => Promise<Answer>): Promise<object> {
  try {
    const { status, body } = await run(objectOf(item, field))
    return { status, ...(body as object) }
  } catch (error) {
    const problem = problemOf(error)
    return { status: problem.status, problem }
  }
}

export function tooMany(given: number, most: number): IbidError {
  return refusal(
    'TOO_LARGE',
    `${given} items are more than ${most}; nothing was executed`,
    `send at most ${most} items`,
  )
}

/**
 * What a caller may send through the transaction of `transact`. Its beginning and its end are the store's: ended in the
 * middle, what was written so far would be kept without the receipt, or the receipt without what was written.
 */
import { IbidError } from './errors.js'

/** Blanks, semicolons and comments, as SQLite reads them. */
const BEFORE = /^(?:[\s;]|--[^\n]*\n|\/\*[^]*?\*\/)*/
/** Without the comments that have an end: in Postgres those are nested, and a line is over at either of two letters. */
const BEFORE_NESTED = /^(?:[\s;]|--[^\n\r]*[\n\r])*/
/** To go back to a savepoint ends nothing. */
const BACK_TO = /^rollback\s+(?:(?:work|transaction)\s+)?to\b/i
const ENDS = /^(?:begin|start\s+transaction|commit|end|abort|rollback|prepare\s+transaction)\b/i

export function mustNotEnd(sql: string): void {
  if (![sql.replace(BEFORE, ''), withoutNested(sql)].some(ends)) return
  throw new IbidError(
    `${JSON.stringify(sql.trim())} is not for the work inside a transaction; nothing was written`,
    {
      code: 'INVALID_INTENT',
      retriable: false,
      action: 'return to commit, throw to roll back; SAVEPOINT, RELEASE and ROLLBACK TO are free to use',
    },
  )
}

function ends(said: string): boolean {
  return ENDS.test(said) && !BACK_TO.test(said)
}

function withoutNested(sql: string): string {
  const rest = sql.replace(BEFORE_NESTED, '')
  if (!rest.startsWith('/*')) return rest
  let depth = 0
  for (const { 0: mark, index } of rest.matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return withoutNested(rest.slice(index + 2))
  }
  return ''
}

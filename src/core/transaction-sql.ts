/**
 * What a caller may send through the transaction of `transact`. Its beginning and its end are the store's: ended in the
 * middle, what was written so far would be kept without the receipt, or the receipt without what was written.
 */
import { IbidError } from './errors.js'

/** Blanks, semicolons and comments. */
const BEFORE = /^(?:[\s;]|--[^\n]*\n|\/\*[^]*?\*\/)*/
/** To go back to a savepoint ends nothing. */
const BACK_TO = /^rollback\s+(?:(?:work|transaction)\s+)?to\b/i
const ENDS = /^(?:begin|start\s+transaction|commit|end|abort|rollback|prepare\s+transaction)\b/i

export function mustNotEnd(sql: string): void {
  const said = sql.replace(BEFORE, '')
  if (!ENDS.test(said) || BACK_TO.test(said)) return
  throw new IbidError(
    `${JSON.stringify(sql.trim())} is not for the work inside a transaction; nothing was written`,
    {
      code: 'INVALID_INTENT',
      retriable: false,
      action: 'return to commit, throw to roll back; SAVEPOINT, RELEASE and ROLLBACK TO are free to use',
    },
  )
}

/**
 * What a caller may send through the transaction of `transact`. Its beginning and its end are the store's: ended in the
 * middle, what was written so far would be kept without the receipt, or the receipt without what was written.
 */
import { IbidError } from './errors.js'

/** Blanks, semicolons and comments, and then a word that begins or ends a transaction. */
const ENDS =
  /^(?:[\s;]|--[^\n]*\n|\/\*[^]*?\*\/)*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i

export function mustNotEnd(sql: string): void {
  if (!ENDS.test(sql)) return
  throw new IbidError(
    `${JSON.stringify(sql.trim())} is not for the work inside a transaction; nothing was written`,
    {
      code: 'INVALID_INTENT',
      retriable: false,
      action: 'return to commit, throw to roll back; SAVEPOINT, RELEASE and ROLLBACK TO are free to use',
    },
  )
}

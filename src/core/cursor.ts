/** Where a page ended, in the words of the store that gave it. One that it did not give is the caller's mistake. */
import { type IbidError, invalidIntent } from './errors.js'

export function noCursor(): IbidError {
  return invalidIntent('the cursor is not one of this store', 'give the cursor of the page before, or none')
}

/** The number that a cursor stands for. Read without a look, one that is none would pass for the end of the list. */
export function readNumber(cursor: string): number {
  const number = Number(cursor)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw noCursor()
}

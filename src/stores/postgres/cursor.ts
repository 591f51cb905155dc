/** Where a page ended, as text. One that this store cannot have given is refused, and not sent to the server. */
import { invalidIntent } from '../../core/errors.js'

/** Behind which receipt, by the primary key. */
export interface ReceiptPlace {
  readonly tenant: string
  readonly digest: string
}

const DIGEST = /^[\da-f-]{32,36}$/

export function writePlace({ tenant, digest }: ReceiptPlace): string {
  return JSON.stringify([tenant, digest])
}

export function readPlace(cursor: string): ReceiptPlace {
  try {
    const [tenant, digest] = JSON.parse(cursor) as readonly unknown[]
    if (typeof tenant === 'string' && typeof digest === 'string' && DIGEST.test(digest))
      return { tenant, digest }
  } catch {
    // Told below.
  }
  throw noCursor()
}

/** The id of an event of the log. */
export function readId(cursor: string): number {
  const id = Number(cursor)
  if (Number.isSafeInteger(id) && id >= 0) return id
  throw noCursor()
}

function noCursor(): Error {
  return invalidIntent('the cursor is not one of this store', 'give the cursor of the page before, or none')
}

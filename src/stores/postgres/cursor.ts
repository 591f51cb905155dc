/** Where a page ended, as text. One that this store cannot have given is refused, and not sent to the server. */
import { noCursor } from '../../core/cursor.js'

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

/**
 * A response as its receipt keeps it: plain JSON that a person can read, the body as text where it is text. One whose
 * body was too long to keep says so; it is never replayed as an empty one.
 */
import { isUtf8 } from 'node:buffer'
import { IbidError } from '../../core/errors.js'
import type { ReceiptView } from '../../core/receipt.js'
import type { Answer, Captured } from './exchange.js'
import { jsonText } from './json-text.js'
import { keepHeaders, REPLAYED } from './kept-headers.js'

export interface Kept {
  readonly status: number
  readonly headers: readonly string[]
  /** Absent: not retained. */
  readonly body?: string | Uint8Array
  /** Of the body, where that was not retained. */
  readonly bytes?: number
}

export function keep(captured: Captured, allowed: ReadonlySet<string>): Kept {
  const { status, body, bytes } = captured
  const headers = keepHeaders(captured.headers, allowed)
  return body === undefined ? { status, headers, bytes } : { status, headers, body: asText(body) }
}

/** Text is kept as text; whatever is not UTF-8 stays bytes. */
function asText(body: string | Uint8Array): string | Uint8Array {
  if (typeof body === 'string' || !isUtf8(body)) return body
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

/** What a duplicate gets. Where there is no body to give again, that is said; it is never an empty one. */
export function replayOf(
  value: unknown,
  receipt: ReceiptView,
  problem: (error: IbidError) => Answer,
): Answer {
  // A person who resolved the receipt may have given it any value.
  if (!isKept(value)) return { status: 200, headers: RESOLVED, body: jsonText(value) ?? 'null' }
  const { status, headers, body } = value
  if (body !== undefined) return { status, headers: [...headers, REPLAYED, 'true'], body }
  return problem(notRetained(value, receipt))
}

const RESOLVED = ['content-type', 'application/json', REPLAYED, 'true']

function notRetained({ status, bytes }: Kept, receipt: ReceiptView): IbidError {
  const what = `the request was completed with status ${status}, but its body of ${bytes} bytes was not retained`
  return new IbidError(what, {
    code: 'VALUE_NOT_RETAINED',
    retriable: false,
    action: 'do not repeat it: it is done. Look the result up by what the request created or changed',
    data: { status },
    receipt,
    replayed: true,
  })
}

export function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false
  const { status, headers } = value as Partial<Kept>
  return typeof status === 'number' && Array.isArray(headers)
}

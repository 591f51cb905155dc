/**
 * What Node refuses to send, refused while the handler can still hear of it. A held response is sent when its receipt
 * is written, and by then nobody is left to catch what Node throws: so the same is thrown here, where it was called.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isUint8Array } from 'node:util/types'
import { eachHeader, type GivenHeaders } from './kept-headers.js'

/** The status as Node would send it. */
export function checkedStatus(given: number, reason: string | undefined): number {
  const status = given | 0
  if (status < 100 || status > 999) {
    throw refusal(RangeError, 'ERR_HTTP_INVALID_STATUS_CODE', `Invalid status code: ${given}`)
  }
  if (reason) validateHeaderValue('statusMessage', reason)
  return status
}

export function checkHeaders(headers: GivenHeaders): void {
  if (Array.isArray(headers) && !Array.isArray(headers[0]) && headers.length % 2 !== 0) {
    throw refusal(TypeError, 'ERR_INVALID_ARG_VALUE', 'The headers name one that has no value')
  }
  eachHeader(headers, checkHeader)
}

function checkHeader(name: string, value: unknown): void {
  validateHeaderName(name)
  if (Array.isArray(value)) for (const one of value) validateHeaderValue(name, one as string)
  else validateHeaderValue(name, value as string)
}

export function checkChunk(chunk: unknown, encoding: unknown): void {
  if (chunk === null)
    throw refusal(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream')
  if (typeof chunk !== 'string' && !isUint8Array(chunk)) {
    const what = `The "chunk" argument must be a string, a Buffer or a Uint8Array, and not of type ${typeof chunk}`
    throw refusal(TypeError, 'ERR_INVALID_ARG_TYPE', what)
  }
  // A function may stand here, and bytes come with whatever their stream says of them.
  if (typeof chunk !== 'string' || typeof encoding !== 'string' || encoding === '') return
  if (!Buffer.isEncoding(encoding)) {
    throw refusal(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`)
  }
}

function refusal(Kind: ErrorConstructor, code: string, message: string): Error {
  return Object.assign(new Kind(message), { code })
}

/**
 * What a request asks for, as one text: method, path, query, content type, content encoding and body. Equal texts,
 * same request; it is what the fingerprint of the receipt is made of. The first lines cannot contain a line break, and
 * the line before the body says how the body is written, so that no two requests run into one text.
 */
import { hash } from 'node:crypto'
import { IbidError } from '../../core/errors.js'
import { type Identity, identityText, parseStrict } from '../../key/index.js'
import type { Body, Exchange } from './exchange.js'
import { withoutBoundary } from './multipart.js'

export interface Comparison {
  /** Two bodies are the same when their bytes are, or when they are the same JSON. */
  readonly compare: 'bytes' | 'json'
  readonly identity: Identity | undefined
}

/** Longer bodies are hashed on their own: comparing short ones as they are is cheaper. */
const LONGEST_PLAIN = 3_000

export function requestText(exchange: Exchange<unknown>, body: Body, how: Comparison): string {
  const type = exchange.header('content-type') ?? ''
  const encoding = exchange.header('content-encoding') ?? ''
  const head = `${exchange.method} ${exchange.path}?${exchange.query}\n`
  if (!(body instanceof Uint8Array)) {
    return `${head}${type}\n${encoding}\njson\n${identityText(body.parsed, how.identity)}`
  }
  const json = how.compare === 'json' && encoding === '' ? jsonText(body, how.identity) : undefined
  if (json !== undefined) return `${head}${type}\n\njson\n${json}`
  const form = /^multipart\//i.test(type) ? withoutBoundary(type, body) : undefined
  if (form) return `${head}${form.type}\n${encoding}\nmultipart\n${form.parts}`
  return `${head}${type}\n${encoding}\n${bytesText(body)}`
}

/** One character for each byte, so that every sequence of bytes has a text of its own, UTF-8 or not. */
function bytesText(body: Uint8Array): string {
  if (body.length > LONGEST_PLAIN) return `sha256\n${hash('sha256', body, 'base64url')}`
  return `bytes\n${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')}`
}

/** Undefined where the body is not JSON that can be trusted: then its bytes speak. */
function jsonText(body: Uint8Array, identity: Identity | undefined): string | undefined {
  let value: unknown
  try {
    value = parseStrict(body)
  } catch (error) {
    if (error instanceof IbidError) return undefined
    throw error
  }
  return identityText(value, identity)
}

const TEXT = /^(\S+) (.*?)\?(.*)\n(.*)\n(.*)\n(json|multipart|sha256|bytes)\n([\s\S]*)$/

/** Such a text, taken apart again, for whoever wants to know what differs between two. Undefined: it is none. */
export function requestParts(text: string): Readonly<Record<string, unknown>> | undefined {
  const found = TEXT.exec(text)
  if (!found) return undefined
  const [, method, path, query, type, encoding, how, body] = found as unknown as string[]
  const content =
    how === 'json' ? (JSON.parse(body as string) as unknown) : how === 'bytes' ? body : [how, body]
  return { method, path, query, 'content type': type, 'content encoding': encoding, body: content }
}

/** The body of a request, up to a limit, as JSON that is read strictly: see `parseStrict`. */
import type { IncomingMessage } from 'node:http'
import { parseStrict } from '../key/index.js'
import { invalidIntent } from '../core/errors.js'
import { refusal } from './problem.js'

export async function readJson(incoming: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(incoming, maxBytes)
  if (bytes.length === 0) return {}
  return parseStrict(bytes)
}

export function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) {
    incoming.resume()
    return Promise.reject(tooLong(maxBytes))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else {
        // What is still to come is let through and forgotten, so that the client gets to read the answer.
        chunks.length = 0
        reject(tooLong(maxBytes))
      }
    })
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    incoming.on('close', () => reject(invalidIntent('the request was cut off', 'send it again')))
    incoming.on('error', reject)
  })
}

function tooLong(maxBytes: number): Error {
  return refusal(
    'TOO_LARGE',
    `the body is longer than ${maxBytes} bytes; nothing was executed`,
    `send at most ${maxBytes} bytes`,
  )
}

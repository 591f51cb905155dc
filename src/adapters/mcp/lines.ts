/** Messages on a stream: one line each, as MCP's stdio has it. A line without an end is not kept for ever. */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { IbidError } from '../../core/errors.js'

const LONGEST_LINE = 64 * 1024 * 1024

/** Whole lines, without their end. What stands behind the last one was cut off, and is dropped. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at))
      yield Buffer.concat(parts).toString('utf8').replace(/\r$/, '')
      parts = []
      length = 0
      from = at + 1
    }
    parts.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > LONGEST_LINE) throw tooLong()
  }
}

/** Resolves when there is room for the next one. A stream that is closed takes nothing, and that is no error here. */
export async function writeLine(stream: Writable, line: string): Promise<void> {
  if (!stream.writable) return
  if (stream.write(`${line}\n`)) return
  await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => undefined)
}

function tooLong(): IbidError {
  return new IbidError(`a message is longer than ${LONGEST_LINE} bytes; the connection is closed`, {
    code: 'INVALID_INTENT',
    retriable: false,
    action: 'send large data by reference',
  })
}

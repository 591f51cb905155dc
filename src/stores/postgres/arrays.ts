/**
 * Arrays on their way to the server. In the binary form, which needs no quoting, no escaping and no parsing, where the
 * client library can send it (`pg` does, given a Buffer); otherwise in the text that Postgres reads.
 */

type Kind = 'text' | 'uuid' | 'number'

/** A parameter that each driver writes down in its own way. */
export class ArrayParam {
  readonly kind: Kind
  readonly values: readonly (string | number | null)[]

  constructor(kind: Kind, values: readonly (string | number | null)[]) {
    this.kind = kind
    this.values = values
  }

  toText(): string {
    const write = this.kind === 'text' ? quote : String
    return `{${this.values.map((value) => (value === null ? 'NULL' : write(value))).join(',')}}`
  }

  /** Numbers stay text: they are few and short, and there are four types of them. */
  toBinary(): Buffer | string {
    if (this.kind === 'number' || this.values.length < 2) return this.toText()
    return this.kind === 'text' ? binaryTexts(this.values) : binaryUuids(this.values)
  }
}

export function asText(param: unknown): unknown {
  return param instanceof ArrayParam ? param.toText() : param
}

export function asBinary(param: unknown): unknown {
  return param instanceof ArrayParam ? param.toBinary() : param
}

/** How the server calls the two types. */
const TEXT = 25
const UUID = 2950
const HEADER = 20
/** UTF-16 to UTF-8, at worst. */
const LONGEST_UNIT = 3

function binaryTexts(values: ArrayParam['values']): Buffer {
  return binaryAscii(values) ?? binaryUtf8(values)
}

/** Room for a length before each value, and all of it written at once. Nothing where a value is not ASCII. */
function binaryAscii(values: ArrayParam['values']): Buffer | undefined {
  const text = `\0\0\0\0${values.join('\0\0\0\0')}`
  if (Buffer.byteLength(text) !== text.length) return undefined
  const buffer = Buffer.allocUnsafe(HEADER + text.length)
  buffer.write(text, HEADER, 'latin1')
  let nulls = false
  let at = HEADER
  for (const value of values) {
    const length = value === null ? -1 : (value as string).length
    nulls ||= value === null
    buffer.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  header(buffer, TEXT, values.length, nulls)
  return buffer
}

function binaryUtf8(values: ArrayParam['values']): Buffer {
  let units = 0
  let nulls = false
  for (const value of values) {
    if (value === null) nulls = true
    else units += (value as string).length
  }
  const buffer = Buffer.allocUnsafe(HEADER + values.length * 4 + units * LONGEST_UNIT)
  let at = header(buffer, TEXT, values.length, nulls)
  for (const value of values) {
    const length = value === null ? -1 : buffer.write(value as string, at + 4, 'utf8')
    buffer.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  return buffer.subarray(0, at)
}

/** How long each is, in the digits that they are written in. */
const SIXTEEN = '00000010'

function binaryUuids(values: ArrayParam['values']): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER + values.length * 20)
  header(buffer, UUID, values.length, false)
  buffer.write(`${SIXTEEN}${values.join(SIXTEEN)}`, HEADER, 'hex')
  return buffer
}

/** One dimension, its element type, its length, counted from 1. */
function header(buffer: Buffer, type: number, length: number, nulls: boolean): number {
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(nulls ? 1 : 0, 4)
  buffer.writeInt32BE(type, 8)
  buffer.writeInt32BE(length, 12)
  buffer.writeInt32BE(1, 16)
  return HEADER
}

function quote(value: string | number): string {
  return `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`
}

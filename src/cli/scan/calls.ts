/**
 * Recorded calls: NDJSON, one call a line. The fields are named here and in docs/cli.md; a line that cannot be read
 * is told by its number and its field. A call that was not a replay counts as an effect.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { AuditEvent, AuditName } from '../../core/audit.js'
import { IbidError, invalidIntent } from '../../core/errors.js'
import type { State } from '../../core/receipt.js'
import { fingerprint, parseStrict } from '../../key/index.js'

export interface RecordedCall {
  readonly at: number
  readonly tenant: string
  readonly scope: string
  readonly key: string | undefined
  readonly runId: string | undefined
  readonly stepId: string | undefined
  readonly ordinal: number | undefined
  readonly payload: unknown
  readonly replayed: boolean
  readonly line: number
}

export async function* readCalls(file: string): AsyncGenerator<RecordedCall> {
  const input = createReadStream(file)
  const opened = new Promise<void>((resolve, reject) => {
    input.once('open', () => resolve())
    input.once('error', reject)
  })
  try {
    await opened
  } catch (error) {
    throw invalidIntent(
      `--calls cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      'give the path of an NDJSON file',
    )
  }
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line++
    if (text.trim() !== '') yield readCall(text, line)
  }
}

function readCall(text: string, line: number): RecordedCall {
  const call = objectOf(text, line)
  const at = timeOf(call['at'], line)
  const scope = textOf(call, 'scope', line) ?? prefixed(textOf(call, 'tool', line))
  if (scope === undefined) throw wrong(line, 'scope', 'is missing', 'name the operation, as scope or as tool')
  const payload = 'payload' in call ? call['payload'] : call['arguments']
  const { ordinal, replayed = false } = call
  if (ordinal !== undefined && !Number.isInteger(ordinal))
    throw wrong(line, 'ordinal', 'is not a whole number', 'leave it out, or number the calls of a step')
  if (typeof replayed !== 'boolean')
    throw wrong(line, 'replayed', 'is neither true nor false', 'say whether the answer was a replay')
  return {
    at,
    tenant: textOf(call, 'tenant', line) ?? '',
    scope,
    key: textOf(call, 'key', line),
    runId: textOf(call, 'runId', line),
    stepId: textOf(call, 'stepId', line),
    ordinal: ordinal as number | undefined,
    payload,
    replayed,
    line,
  }
}

function objectOf(text: string, line: number): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = parseStrict(text)
  } catch (error) {
    const reason =
      error instanceof IbidError ? error.message.replace(/; nothing was executed$/, '') : String(error)
    throw invalidIntent(`line ${line} of --calls is not JSON: ${reason}`, 'write one JSON object a line')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw invalidIntent(`line ${line} of --calls is not an object`, 'write one JSON object a line')
}

function timeOf(value: unknown, line: number): number {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isFinite(ms)) return ms
  throw wrong(
    line,
    'at',
    value === undefined ? 'is missing' : 'is not a time',
    'give milliseconds, or an ISO 8601 time',
  )
}

function textOf(call: Readonly<Record<string, unknown>>, field: string, line: number): string | undefined {
  const value = call[field]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw wrong(line, field, 'is not a text', `write ${field} as a string`)
}

function prefixed(tool: string | undefined): string | undefined {
  return tool === undefined ? undefined : `tool:${tool}`
}

function wrong(line: number, field: string, what: string, action: string): IbidError {
  return invalidIntent(`line ${line} of --calls: ${field} ${what}`, action)
}

/** The call as the audit log would have told it. */
export function asEvents({
  at,
  tenant,
  scope,
  key,
  payload,
  replayed,
  line,
}: RecordedCall): readonly AuditEvent[] {
  if (key === undefined) return []
  const event = (name: AuditName, state: State): AuditEvent => ({
    tenant,
    scope,
    key,
    at,
    state,
    event: name,
    epoch: line,
    attempt: 1,
    fingerprint: fingerprint(payload),
    count: 1,
  })
  return replayed
    ? [event('dedup_hit', 'succeeded')]
    : [event('claimed', 'pending'), event('settled', 'succeeded')]
}

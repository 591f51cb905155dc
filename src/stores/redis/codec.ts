/**
 * Between receipts and the strings that Redis holds; scripts.ts says what they look like. Every line is JSON, which
 * has no line break inside, except the last one: an outcome is kept as it is.
 */
import type { AuditEvent, AuditNote } from '../../core/audit.js'
import {
  type Address,
  type Draft,
  type Receipt,
  type Recovery,
  RECOVERIES,
  type State,
} from '../../core/receipt.js'
import type { Swap } from '../../store.js'

const LETTERS: Readonly<Record<State, string>> = {
  pending: 'p',
  released: 'r',
  succeeded: 's',
  failed: 'f',
  unknown: 'u',
}
const STATE_OF = Object.fromEntries(
  Object.entries(LETTERS).map(([state, letter]) => [letter, state as State]),
)

const NEVER = '-'.repeat(13)
const NEW_EPOCH = '-'.repeat(16)
/** Where the stamps end and the token begins. */
const HEAD = 56

/** Adds what the claim script takes of a receipt. */
export function writeDraft(draft: Draft, batch: string[]): void {
  const { state, epoch, createdAt, forMs, token, outcome, audit } = draft
  batch.push(
    LETTERS[state],
    epochText(epoch),
    instantText(createdAt),
    forMs === null ? '' : String(forMs),
    outcome === null ? ',0\n' : `,${Buffer.byteLength(outcome)}\n`,
    JSON.stringify(token),
    termsLine(draft),
    subjectLine(draft),
    noteLine(audit, state, 1),
  )
  if (outcome !== null) batch.push(outcome)
}

/** Adds what the swap script takes of a change. */
export function writeSwap({ expect, next }: Swap, batch: string[]): void {
  const { token, state, until } = expect
  batch.push(LETTERS[state], until === undefined ? '' : instantText(until), JSON.stringify(token), '\n')
  writeDraft(next, batch)
}

export function eventArgs(event: AuditEvent, args: string[]): void {
  args.push(epochText(event.epoch), subjectLine(event) + noteLine(event, event.state, event.count))
}

export const EXPIRED_NOTE = noteLine({ event: 'expired' }, null, 1)

/** A receipt as a script answers it. */
export function decodeReceipt(text: string): Receipt {
  const tokenEnd = text.indexOf('\n', HEAD)
  const termsEnd = text.indexOf('\n', tokenEnd + 1)
  const subjectEnd = text.indexOf('\n', termsEnd + 1)
  const [tenant, scope, key, fingerprint, attempt] = JSON.parse(
    text.slice(termsEnd + 1, subjectEnd),
  ) as Subject
  const [maxAttempts, recovery, leaseMs, windowMs, hasOutcome] = JSON.parse(
    text.slice(tokenEnd + 1, termsEnd),
  ) as TermsLine
  const until = text.slice(1, 14)
  return {
    tenant,
    scope,
    key,
    fingerprint,
    state: STATE_OF[text.charAt(0)] as State,
    token: JSON.parse(text.slice(HEAD, tokenEnd)) as string,
    attempt,
    maxAttempts,
    recovery: RECOVERIES[recovery] as Recovery,
    leaseMs,
    windowMs,
    outcome: hasOutcome ? text.slice(subjectEnd + 1) : null,
    epoch: Number(text.slice(14, 30)),
    createdAt: Number(text.slice(30, 43)),
    at: Number(text.slice(43, 56)),
    until: until === NEVER ? null : Number(until),
  }
}

export interface Logged {
  /** Microseconds: what events of several shards are put in order by. */
  readonly us: number
  readonly event: AuditEvent
}

/** The addresses that an entry of the journal tells of. */
export function addressesIn(entry: string): readonly Address[] {
  const lines = entry.split('\n')
  return Array.from({ length: (lines.length - 1) / 2 }, (_, i) => {
    const [tenant, scope, key] = JSON.parse((lines[i * 2] as string).slice(32)) as Subject
    return { tenant, scope, key }
  })
}

/** The events of one entry of the journal. */
export function decodeEvents(entry: string): readonly Logged[] {
  const lines = entry.split('\n')
  return Array.from({ length: (lines.length - 1) / 2 }, (_, i) =>
    decodeEvent(lines[i * 2] as string, lines[i * 2 + 1] as string),
  )
}

function decodeEvent(head: string, note: string): Logged {
  const [tenant, scope, key, fingerprint, attempt] = JSON.parse(head.slice(32)) as Subject
  const [event, state, count, by, why] = JSON.parse(note) as NoteLine
  const us = Number(head.slice(0, 16))
  return {
    us,
    event: {
      tenant,
      scope,
      key,
      event,
      ...(typeof by === 'string' ? { by } : {}),
      ...(typeof why === 'string' ? { why } : {}),
      at: Math.floor(us / 1_000),
      state,
      epoch: Number(head.slice(16, 32)),
      attempt,
      fingerprint,
      count,
    },
  }
}

type Subject = readonly [tenant: string, scope: string, key: string, fingerprint: string, attempt: number]
type TermsLine = readonly [
  maxAttempts: number,
  recovery: number,
  leaseMs: number,
  windowMs: number,
  hasOutcome: 0 | 1,
]
type NoteLine = readonly [
  event: AuditEvent['event'],
  state: State | null,
  count: number,
  by?: string | null | undefined,
  why?: string | null | undefined,
]

function subjectLine({ tenant, scope, key, fingerprint, attempt }: Draft | AuditEvent): string {
  return `${JSON.stringify([tenant, scope, key, fingerprint, attempt] satisfies Subject)}\n`
}

function termsLine({ maxAttempts, recovery, leaseMs, windowMs, outcome }: Draft): string {
  const numbers = [maxAttempts, RECOVERIES.indexOf(recovery), leaseMs, windowMs, outcome === null ? 0 : 1]
  return `\n[${numbers.join()}]\n`
}

function noteLine({ event, by, why }: AuditNote, state: State | null, count: number): string {
  if (by === undefined && why === undefined) {
    return `["${event}",${state === null ? 'null' : `"${state}"`},${count}]\n`
  }
  return `${JSON.stringify([event, state, count, by, why] satisfies NoteLine)}\n`
}

export function epochText(epoch: number | null): string {
  return epoch === null ? NEW_EPOCH : String(epoch).padStart(16, '0')
}

function instantText(ms: number | null): string {
  return ms === null ? NEVER : String(ms).padStart(13, '0')
}

/**
 * Between receipts and the strings that Redis holds; scripts.ts says what they look like. Every line is JSON, which
 * has no line break inside, except the last one: an outcome is kept as it is.
 */
import type { AuditEvent, AuditNote } from '../../core/audit.js'
import { type Draft, type Receipt, type Recovery, RECOVERIES, type State } from '../../core/receipt.js'
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
/** Where the stamps end and the place in the list begins. */
const HEAD = 56

/** What the claim script takes per receipt: state and duration, stamps, token, whose, terms and outcome, note. */
export function draftArgs(draft: Draft, withAudit: boolean, args: string[]): void {
  const { state, forMs, epoch, createdAt, token, outcome } = draft
  args.push(
    LETTERS[state] + (forMs === null ? '' : String(forMs)),
    epoch === null && createdAt === null ? '' : epochText(epoch) + instantText(createdAt),
    JSON.stringify(token),
    subjectLine(draft),
    `${termsLine(draft)}\n${outcome ?? ''}`,
    withAudit ? noteLine(draft.audit, state, 1) : '',
  )
}

/** What the swap script takes per receipt: the state, and `until` where it counts; the token; then the draft. */
export function swapArgs({ expect, next }: Swap, withAudit: boolean, args: string[]): void {
  const { token, state, until } = expect
  args.push(LETTERS[state] + (until === undefined ? '' : instantText(until)), JSON.stringify(token))
  draftArgs(next, withAudit, args)
}

export function eventArgs(event: AuditEvent, args: string[]): void {
  args.push(epochText(event.epoch), subjectLine(event), noteLine(event, event.state, event.count))
}

export const EXPIRED_NOTE = noteLine({ event: 'expired' }, null, 1)

/** A receipt as a script answers it. */
export function decodeReceipt(text: string): Receipt {
  const spotEnd = text.indexOf(';', HEAD)
  const tokenEnd = text.indexOf('\n', spotEnd)
  const subjectEnd = text.indexOf('\n', tokenEnd + 1)
  const termsEnd = text.indexOf('\n', subjectEnd + 1)
  const [tenant, scope, key, fingerprint, attempt] = JSON.parse(
    text.slice(tokenEnd + 1, subjectEnd),
  ) as Subject
  const [maxAttempts, recovery, leaseMs, windowMs, hasOutcome] = JSON.parse(
    text.slice(subjectEnd + 1, termsEnd),
  ) as TermsLine
  const until = text.slice(1, 14)
  return {
    tenant,
    scope,
    key,
    fingerprint,
    state: STATE_OF[text.charAt(0)] as State,
    token: JSON.parse(text.slice(spotEnd + 1, tokenEnd)) as string,
    attempt,
    maxAttempts,
    recovery: RECOVERIES[recovery] as Recovery,
    leaseMs,
    windowMs,
    outcome: hasOutcome ? text.slice(termsEnd + 1) : null,
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

export function decodeEvent(text: string): Logged {
  const subjectEnd = text.indexOf('\n', 32)
  const [tenant, scope, key, fingerprint, attempt] = JSON.parse(text.slice(32, subjectEnd)) as Subject
  const [event, state, count, by, why] = JSON.parse(text.slice(subjectEnd + 1)) as NoteLine
  const us = Number(text.slice(0, 16))
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
      epoch: Number(text.slice(16, 32)),
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
  return JSON.stringify([tenant, scope, key, fingerprint, attempt] satisfies Subject)
}

function termsLine({ maxAttempts, recovery, leaseMs, windowMs, outcome }: Draft): string {
  return `[${maxAttempts},${RECOVERIES.indexOf(recovery)},${leaseMs},${windowMs},${outcome === null ? 0 : 1}]`
}

function noteLine({ event, by, why }: AuditNote, state: State | null, count: number): string {
  if (by === undefined && why === undefined) {
    return `["${event}",${state === null ? 'null' : `"${state}"`},${count}]`
  }
  return JSON.stringify([event, state, count, by, why] satisfies NoteLine)
}

function epochText(epoch: number | null): string {
  return epoch === null ? '-'.repeat(16) : String(epoch).padStart(16, '0')
}

function instantText(ms: number | null): string {
  return ms === null ? NEVER : String(ms).padStart(13, '0')
}

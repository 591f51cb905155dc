/**
 * Between receipts and the strings that Redis holds; scripts.ts says what they look like. All but the stamps in front
 * and the outcome at the end are lines: see lines.ts. An outcome is kept as it is.
 */
import type { AuditEvent } from '../../core/audit.js'
import type { Address, Draft, Receipt, State } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { noteLine, type NoteLine, readSubject, readTerms, subjectLine, termsLine } from './lines.js'

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
/** In the place of the stamp of arrival: that one stays, and the lines of the claim with it. */
const KEPT = '='
/** Stands before an outcome: an empty one is not none. */
const HAS_OUTCOME = '+'
/** Where the stamps end and the token begins. */
const HEAD = 56

/** Adds what the scripts take of a receipt, and returns the line that says whose it is. */
export function writeDraft(draft: Draft, batch: string[]): string {
  const { state, epoch, createdAt, token, outcome, audit } = draft
  const subject = subjectLine(draft)
  batch.push(
    LETTERS[state],
    epochText(epoch),
    instantText(createdAt),
    specLine(draft),
    JSON.stringify(token),
    termsLine(draft),
    subject,
    noteLine(audit, state, 1),
  )
  if (outcome !== null) batch.push(HAS_OUTCOME, outcome)
  return subject
}

/** Adds what the swap script takes of a change. What it keeps of the claim is not sent again. */
export function writeSwap({ expect, next }: Swap, batch: string[]): void {
  const { token, state, until } = expect
  batch.push(LETTERS[state], until === undefined ? '' : instantText(until), JSON.stringify(token), '\n')
  if (next.token !== token || next.epoch === null || next.createdAt === null) {
    writeDraft(next, batch)
    return
  }
  batch.push(LETTERS[next.state], epochText(next.epoch), KEPT, specLine(next))
  batch.push(noteLine(next.audit, next.state, 1))
  if (next.outcome !== null) batch.push(HAS_OUTCOME, next.outcome)
}

/** How long the state is good for, and how many bytes the outcome has. */
function specLine({ forMs, outcome }: Draft): string {
  const length = outcome === null ? 0 : HAS_OUTCOME.length + Buffer.byteLength(outcome)
  return `${forMs ?? ''},${length}\n`
}

export function eventArgs(event: AuditEvent, args: string[]): void {
  args.push(epochText(event.epoch), subjectLine(event) + noteLine(event, event.state, event.count))
}

export const EXPIRED_NOTE = noteLine({ event: 'expired' }, null, 1)

/**
 * A receipt as a script answers it. `asked`: a draft for the same address, and its line; most receipts are whose that
 * line says, and then nothing of it needs to be read.
 */
export function decodeReceipt(text: string, asked?: Draft, line?: string): Receipt {
  const tokenEnd = text.indexOf('\n', HEAD)
  const termsEnd = text.indexOf('\n', tokenEnd + 1)
  const isAsked = asked !== undefined && line !== undefined && text.startsWith(line, termsEnd + 1)
  const subjectEnd = isAsked ? termsEnd + line.length : text.indexOf('\n', termsEnd + 1)
  const subject = isAsked ? asked : readSubject(text.slice(termsEnd + 1, subjectEnd))
  const terms = readTerms(text.slice(tokenEnd + 1, termsEnd))
  const until = text.slice(1, 14)
  return {
    tenant: subject.tenant,
    scope: subject.scope,
    key: subject.key,
    fingerprint: subject.fingerprint,
    state: STATE_OF[text.charAt(0)] as State,
    token: JSON.parse(text.slice(HEAD, tokenEnd)) as string,
    attempt: subject.attempt,
    maxAttempts: terms.maxAttempts,
    recovery: terms.recovery,
    leaseMs: terms.leaseMs,
    windowMs: terms.windowMs,
    outcome: text.length > subjectEnd + 1 ? text.slice(subjectEnd + 1 + HAS_OUTCOME.length) : null,
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
    const { tenant, scope, key } = readSubject((lines[i * 2] as string).slice(32))
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
  const { tenant, scope, key, fingerprint, attempt } = readSubject(head.slice(32))
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

export function epochText(epoch: number | null): string {
  return epoch === null ? NEW_EPOCH : String(epoch).padStart(16, '0')
}

function instantText(ms: number | null): string {
  return ms === null ? NEVER : String(ms).padStart(13, '0')
}

/**
 * Between receipts and the strings that Redis holds; scripts.ts says what they look like. All but the stamps in front
 * and the outcome at the end are lines: see lines.ts. An outcome is kept as it is.
 */
import type { AuditEvent } from '../../core/audit.js'
import type { Address, Draft, Receipt, State } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import {
  noteLine,
  type NoteLine,
  readSubject,
  readTerms,
  type Subject,
  subjectLine,
  termsLine,
} from './lines.js'
import { MOST_EVENTS } from './scripts.js'

export const LETTERS: Readonly<Record<State, string>> = {
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
/** Stands before an outcome: an empty one is not none. */
export const HAS_OUTCOME = '+'
/** Where the stamps end and the token begins. */
const STAMPS = 56
/** Of an epoch, and of other microseconds. */
const DIGITS = 16

export const EXPIRED_NOTE = noteLine({ event: 'expired' }, null, 1)

/** The three lines of a receipt that a change may keep; `subject` is the last of them. */
export function linesOf(draft: Draft, subject: string): string {
  return JSON.stringify(draft.token) + termsLine(draft) + subject
}

/** Token, epoch and arrival stay, and with them all that was written with the claim. */
export function keepsClaim({ expect, next }: Swap): boolean {
  return next.token === expect.token && next.epoch !== null && next.createdAt !== null
}

/** State, and `until` where it counts, as the receipt begins that is expected. */
export function asText({ state, until }: Swap['expect']): string {
  return until === undefined ? LETTERS[state] : LETTERS[state] + instantText(until)
}

/**
 * A receipt as a script answers it. `asked`: a draft for the same address, and its line; most receipts are whose that
 * line says, and then nothing of it needs to be read.
 */
export function decodeReceipt(text: string, asked?: Draft, line?: string): Receipt {
  const tokenEnd = text.indexOf('\n', STAMPS)
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
    token: readToken(text.slice(STAMPS, tokenEnd)),
    attempt: subject.attempt,
    maxAttempts: terms.maxAttempts,
    recovery: terms.recovery,
    leaseMs: terms.leaseMs,
    windowMs: terms.windowMs,
    outcome: text.length > subjectEnd + 1 ? text.slice(subjectEnd + 1 + HAS_OUTCOME.length) : null,
    epoch: Number(text.slice(27, 43)),
    createdAt: Number(text.slice(43, STAMPS)),
    at: Number(text.slice(14, 27)),
    until: until === NEVER ? null : Number(until),
  }
}

/** The fields of an entry of the journal; the last one is empty where there would be an odd number of them. */
export type Entry = readonly [head: string, note: string, ...parts: string[]]

export interface Logged {
  /** Microseconds: what events of several shards are put in order by. */
  readonly us: number
  readonly event: AuditEvent
}

/** The addresses that an entry of the journal tells of. */
export function addressesIn([, , ...parts]: Entry): readonly Address[] {
  return parts.filter(Boolean).map(readPart)
}

/** The events of one entry of the journal. */
export function decodeEvents([head, note, ...parts]: Entry): readonly Logged[] {
  const [event, state, count, by, why] = JSON.parse(note) as NoteLine
  const us = Number(head.slice(0, DIGITS))
  const shared = head.slice(DIGITS)
  return parts.filter(Boolean).map((part) => {
    const { tenant, scope, key, fingerprint, attempt } = readPart(part)
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
        epoch: Number((shared || part).slice(0, DIGITS)),
        attempt,
        fingerprint,
        count,
      },
    }
  })
}

/** What is told of a receipt begins with its stamps, its token and its terms. */
function readPart(part: string): Subject {
  return readSubject(part.slice(part.indexOf('\n', part.indexOf('\n') + 1) + 1))
}

/** What the journal is told of events that changed nothing, as RECORD takes it. */
export function eventArgs(events: readonly AuditEvent[]): string[] {
  const entries: { readonly note: string; readonly parts: string[] }[] = []
  for (const event of events) {
    const note = noteLine(event, event.state, event.count)
    // No change came with it: there is no arrival to tell of, no token and no terms.
    const part = `${epochText(event.epoch)}${NEVER}\n\n${subjectLine(event)}`
    const last = entries.at(-1)
    if (last?.note === note && last.parts.length < MOST_EVENTS) last.parts.push(part)
    else entries.push({ note, parts: [part] })
  }
  return entries.flatMap(({ note, parts }) => [String(parts.length), note, ...parts])
}

/** Nearly all are as they were quoted. */
function readToken(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
}

export function epochText(epoch: number): string {
  return String(epoch).padStart(16, '0')
}

export function instantText(ms: number | null): string {
  return ms === null ? NEVER : String(ms).padStart(13, '0')
}

/**
 * How the page says things: times, spans, shares, and what states, decisions and recoveries mean to a
 * person.
 */
import type { AuditEvent, AuditName, Recovery, State } from './shapes.js'

export function clockTime(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB')
}

export function dateTime(ms: number): string {
  const date = new Date(ms)
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
  return `${day}, ${date.toLocaleTimeString('en-GB')}`
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** '3 min', '2.5 d'; below a second in milliseconds. */
export function span(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, size]) => ms >= size) ?? ['ms', 1]
  const count = Math.max(0, ms / unitMs)
  return `${count < 10 && unit !== 'ms' ? Math.round(count * 10) / 10 : Math.round(count)} ${unit}`
}

export function ago(ms: number, nowMs: number): string {
  return nowMs - ms < 1_000 ? 'just now' : `${span(nowMs - ms)} ago`
}

export function share(part: number, whole: number): string {
  if (whole === 0) return '–'
  const percent = (part / whole) * 100
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`
}

export function number(count: number): string {
  return count.toLocaleString('en-GB', { maximumFractionDigits: count < 10 ? 2 : 0 })
}

export const STATE_WORDS: Readonly<Record<State, string>> = {
  pending: 'running',
  released: 'released',
  succeeded: 'succeeded',
  failed: 'refused',
  unknown: 'held',
}

export const STATE_MEANS: Readonly<Record<State, string>> = {
  pending: 'An attempt holds the lease and is at work, or was when it was last heard of.',
  released: 'It did not happen. The same key may be tried again.',
  succeeded: 'It happened. Every duplicate gets the first result.',
  failed: 'It was refused for good. Every duplicate gets the same refusal.',
  unknown: 'Nobody knows whether it happened. Nothing runs under this key until a person says so.',
}

const EVENT_WORDS: Readonly<Record<AuditName, string>> = {
  claimed: 'claimed',
  dedup_hit: 'replayed',
  in_flight: 'already running',
  conflict: 'other payload',
  takeover: 'taken over',
  renewed: 'lease renewed',
  settled: 'settled',
  released: 'released',
  held: 'held',
  resolved: 'resolved',
  swept: 'swept',
  expired: 'forgotten',
  stale: 'too late',
}

const EVENT_MEANS: Readonly<Record<AuditName, string>> = {
  claimed: 'An attempt got the lease: this one may act.',
  dedup_hit: 'A duplicate got the first result. Nothing ran.',
  in_flight: 'A duplicate came while the first was still at work. Nothing ran.',
  conflict: 'The key came with another payload and was refused. Nothing ran.',
  takeover: 'The lease had lapsed; another attempt went on.',
  renewed: 'The attempt is still at work.',
  settled: 'The attempt said how it ended.',
  released: 'It did not happen; the key may be tried again.',
  held: 'The outcome is unknown; a person has to decide.',
  resolved: 'Somebody said what happened.',
  swept: 'The lease had lapsed and nobody came back.',
  expired: 'The window ended; the receipt is forgotten.',
  stale: 'An attempt that had lost its lease tried to settle, and was refused.',
}

type Happened = Pick<AuditEvent, 'event' | 'state'>

/** One that came while the first was not settled: running, or held. */
function isTurnedAway({ event, state }: Happened): boolean {
  return event === 'in_flight' && state === 'unknown'
}

export function wordFor(happened: Happened): string {
  return isTurnedAway(happened) ? 'turned away' : EVENT_WORDS[happened.event]
}

export function meaningOf(happened: Happened): string {
  return isTurnedAway(happened)
    ? 'A duplicate came while it is held. Nothing ran.'
    : EVENT_MEANS[happened.event]
}

/** What is on record about a conflict besides the first fingerprint; see docs/page.md. */
export function conflictOf({ why = '' }: Pick<AuditEvent, 'why'>): {
  readonly cameAs: string | undefined
  readonly differs: string | undefined
} {
  const [, cameAs, differs] = /^came as ([^;]+)(?:; (.+))?$/s.exec(why) ?? []
  return { cameAs, differs }
}

export const RECOVERY_MEANS: Readonly<Record<Recovery, string>> = {
  hold: 'hold: after a lost attempt, a person decides',
  retry: 'retry: after a lost attempt, it runs again under the same key',
  check: 'check: after a lost attempt, the downstream is asked first',
  atomic: 'atomic: effect and receipt are one transaction',
}

/** `tool:issue_refund` → `tool`. */
export function layerOf(scope: string): string {
  const colon = scope.indexOf(':')
  return colon <= 0 ? 'direct' : scope.slice(0, colon)
}

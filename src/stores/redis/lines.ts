/**
 * The lines that receipts and journal entries are made of, each JSON, which has no line break inside. Most of a batch
 * is of one tenant and scope, under the same terms and with the same note: what those are written as and read from is
 * made once for a run of them.
 */
import type { AuditEvent, AuditNote } from '../../core/audit.js'
import { type Receipt, type Recovery, RECOVERIES, type State } from '../../core/receipt.js'

export type Subject = Pick<Receipt, 'tenant' | 'scope' | 'key' | 'fingerprint' | 'attempt'>
type SubjectLine = readonly [tenant: string, scope: string, key: string, fingerprint: string, attempt: number]
type Terms = Pick<Receipt, 'maxAttempts' | 'recovery' | 'leaseMs' | 'windowMs'>
type TermsLine = readonly [maxAttempts: number, recovery: number, leaseMs: number, windowMs: number]
export type NoteLine = readonly [
  event: AuditEvent['event'],
  state: State | null,
  count: number,
  by?: string | null | undefined,
  why?: string | null | undefined,
]

let front = { tenant: '', scope: '', text: '["","",' }

export function subjectLine({ tenant, scope, key, fingerprint, attempt }: Subject): string {
  if (front.tenant !== tenant || front.scope !== scope) {
    front = { tenant, scope, text: `[${JSON.stringify(tenant)},${JSON.stringify(scope)},` }
  }
  return `${front.text}${JSON.stringify(key)},${JSON.stringify(fingerprint)},${attempt}]\n`
}

export function readSubject(line: string): Subject {
  const [tenant, scope, key, fingerprint, attempt] = JSON.parse(line) as SubjectLine
  return { tenant, scope, key, fingerprint, attempt }
}

let written = { maxAttempts: 0, recovery: '', leaseMs: 0, windowMs: 0, line: '' }

export function termsLine({ maxAttempts, recovery, leaseMs, windowMs }: Terms): string {
  if (
    written.maxAttempts !== maxAttempts ||
    written.recovery !== recovery ||
    written.leaseMs !== leaseMs ||
    written.windowMs !== windowMs
  ) {
    const numbers = [maxAttempts, RECOVERIES.indexOf(recovery), leaseMs, windowMs] satisfies TermsLine
    written = { maxAttempts, recovery, leaseMs, windowMs, line: `\n[${numbers.join()}]\n` }
  }
  return written.line
}

let read: { readonly line: string; readonly terms: Terms } | undefined

export function readTerms(line: string): Terms {
  if (read?.line !== line) {
    const [maxAttempts, recovery, leaseMs, windowMs] = JSON.parse(line) as TermsLine
    read = { line, terms: { maxAttempts, recovery: RECOVERIES[recovery] as Recovery, leaseMs, windowMs } }
  }
  return read.terms
}

let noted: { readonly note: AuditNote; readonly state: State | null; readonly line: string } | undefined

export function noteLine(note: AuditNote, state: State | null, count: number): string {
  const { event, by, why } = note
  if (count !== 1 || by !== undefined || why !== undefined) {
    return `${JSON.stringify([event, state, count, by, why] satisfies NoteLine)}\n`
  }
  if (noted?.note !== note || noted.state !== state) {
    noted = { note, state, line: `${JSON.stringify([event, state, 1] satisfies NoteLine)}\n` }
  }
  return noted.line
}

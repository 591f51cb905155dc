/** What can be asked of the thread that has the file open, and what it answers: plain data, one entry per verb. */
import type { AuditEvent } from '../../core/audit.js'
import type { Address, Draft } from '../../core/receipt.js'
import type { AuditQuery, Purged, ReceiptClaim, ScanQuery, StoreReport, Swap } from '../../store.js'
import { auditSlice, type AuditSlice } from './audit.js'
import type { CatalogueCopy } from './catalogue.js'
import { check } from './check.js'
import { claim, type ClaimAnswer } from './claim.js'
import type { Connection } from './connection.js'
import { findIdsEver, findReceipt } from './get.js'
import type { Row } from './open.js'
import { forgetOnly, purge } from './purge.js'
import { record } from './record.js'
import { scanSlice, type ScanSlice } from './scan.js'
import { type SwapAnswer, swapAll } from './swap.js'

export interface Verbs {
  claim: { in: readonly Draft[]; out: { readonly now: number; readonly answers: readonly ClaimAnswer[] } }
  swap: { in: readonly Swap[]; out: { readonly now: number; readonly answers: readonly SwapAnswer[] } }
  record: { in: readonly AuditEvent[]; out: null }
  /** `only`: these, and nothing else, whatever the rest says. */
  purge: {
    in: { readonly limit: number; readonly auditMs: number; readonly only?: readonly ReceiptClaim[] }
    out: Purged
  }
  get: { in: readonly Address[]; out: { readonly now: number; readonly rows: readonly (Row | null)[] } }
  locate: { in: Address; out: readonly number[] }
  scan: { in: { readonly query: ScanQuery; readonly after: number }; out: ScanSlice }
  audit: { in: { readonly query: AuditQuery; readonly from: number | undefined }; out: AuditSlice }
  check: { in: null; out: StoreReport }
  /** What the catalogue knows, for another thread. */
  copy: { in: null; out: CatalogueCopy }
  /** Whatever a connection that leaves it to others did not do: copy the log back, seal. */
  tidy: { in: null; out: null }
}

export type Verb = keyof Verbs

/** `careful`: a first try in this transaction's place took something for granted, and was rolled back. */
type Does<V extends Verb> = (
  connection: Connection,
  input: Verbs[V]['in'],
  now: number,
  careful: boolean,
) => Verbs[V]['out']

/** Inside one write transaction together with whatever else waits. */
export const WRITES: { readonly [V in 'claim' | 'swap' | 'record' | 'purge']: Does<V> } = {
  claim: (connection, drafts, now) => ({
    now,
    answers: drafts.map((draft) => claim(connection, draft, now)),
  }),
  swap: (connection, changes, now, careful) => ({
    now,
    answers: swapAll(connection, changes, now, careful),
  }),
  record: (connection, events, now) => {
    for (const event of events) record(connection, event, now)
    return null
  },
  purge: (connection, { limit, auditMs, only }, now) =>
    only ? forgetOnly(connection, only, now) : purge(connection, limit, auditMs, now),
}

export const READS: { readonly [V in Exclude<Verb, keyof typeof WRITES | 'tidy'>]: Does<V> } = {
  get: (connection, addresses, now) => ({
    now,
    rows: addresses.map((address) => findReceipt(connection, address) ?? null),
  }),
  locate: (connection, address) => findIdsEver(connection, address),
  scan: (connection, { query, after }, now) => scanSlice(connection, query, after, now),
  audit: (connection, { query, from }) => auditSlice(connection, query, from),
  check: (connection) => check(connection),
  copy: ({ catalogue }) => catalogue.copy(),
}

export function isWrite(verb: Verb): verb is keyof typeof WRITES {
  return verb in WRITES
}

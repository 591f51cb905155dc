/** What the API answers with, as far as the page reads it. Receipts and events are the library's own. */
import type { AuditEvent } from '../../src/core/audit.js'
import type { ReceiptView } from '../../src/core/receipt.js'

export type { AuditEvent, AuditName } from '../../src/core/audit.js'
export type { Address, ReceiptView, Recovery, State } from '../../src/core/receipt.js'
export type { StoreReport } from '../../src/store.js'

export interface Me {
  readonly keyId: string
  /** `*`: every tenant. */
  readonly tenant: string
  readonly rights: readonly string[]
  readonly version: string
}

export interface LayerCounts {
  readonly originals: number
  readonly duplicates: number
  readonly inFlight: number
  readonly conflicts: number
  readonly held: number
}

export interface Step {
  readonly at: number
  readonly layers: Readonly<Record<string, LayerCounts>>
}

export interface Steps {
  readonly stepMs: number
  readonly steps: readonly Step[]
}

export interface Verb {
  readonly calls: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
}

export interface Stats {
  readonly totals: Readonly<Record<string, LayerCounts>>
  readonly hitRate: number
  readonly recent: Steps
  readonly day: Steps
  readonly store: Readonly<Record<string, Verb>>
  readonly waiters: number
  readonly streams: number
}

export interface Page {
  readonly receipts: readonly ReceiptView[]
  readonly cursor?: string
}

export type Detail = ReceiptView & {
  readonly value?: unknown
  readonly error?: {
    readonly code?: string
    readonly message: string
    readonly action?: string
    readonly data?: unknown
  }
}

export interface Timeline {
  readonly receipts: readonly ReceiptView[]
  readonly events: readonly AuditEvent[]
}

export interface History {
  readonly events: readonly AuditEvent[]
}

export interface Log {
  readonly events: readonly AuditEvent[]
  readonly cursor?: string
}

export interface Swept {
  readonly held: number
  readonly released: number
  readonly purged: number
  readonly events: number
}

/**
 * Drafts and swaps on their way to the worker thread: one flat array of texts and numbers for a whole batch, which
 * is copied between threads several times faster than objects are. What is the same as in the entry before, as tenant,
 * scope, state and terms mostly are, is not copied again. Everything else crosses as it is.
 */
import type { AuditName } from '../../core/audit.js'
import type { Draft, Recovery, State } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import type { Verb } from './verbs.js'

/** True: the same as in the entry before. */
type Flat = (string | number | null | undefined | true)[]

const DRAFT_FIELDS = 18
const SWAP_FIELDS = DRAFT_FIELDS + 3

export function pack(verb: Verb, input: unknown): unknown {
  if (verb === 'claim') return packed(input as readonly Draft[], pushDraft)
  if (verb === 'swap') return packed(input as readonly Swap[], pushSwap)
  return input
}

export function unpack(verb: Verb, sent: unknown): unknown {
  if (verb === 'claim') return unpacked(sent as Flat, DRAFT_FIELDS, draftAt)
  if (verb === 'swap') return unpacked(sent as Flat, SWAP_FIELDS, swapAt)
  return sent
}

function packed<T>(items: readonly T[], push: (flat: Flat, item: T) => void): Flat {
  const flat: Flat = []
  let last: Flat = []
  for (const item of items) {
    const entry: Flat = []
    push(entry, item)
    for (let i = 0; i < entry.length; i++)
      flat.push(entry[i] === last[i] && last.length > 0 ? true : entry[i])
    last = entry
  }
  return flat
}

function unpacked<T>(flat: Flat, fields: number, at: (flat: Flat, start: number) => T): T[] {
  const items: T[] = []
  for (let start = 0; start < flat.length; start += fields) {
    for (let i = start; i < start + fields; i++) if (flat[i] === true) flat[i] = flat[i - fields]
    items.push(at(flat, start))
  }
  return items
}

function pushDraft(flat: Flat, draft: Draft): void {
  const { audit } = draft
  flat.push(draft.tenant, draft.scope, draft.key, draft.fingerprint, draft.state, draft.token, draft.attempt)
  flat.push(draft.maxAttempts, draft.recovery, draft.leaseMs, draft.windowMs, draft.outcome, draft.epoch)
  flat.push(draft.createdAt, draft.forMs, audit.event, audit.by, audit.why)
}

function pushSwap(flat: Flat, { expect, next }: Swap): void {
  pushDraft(flat, next)
  flat.push(expect.token, expect.state, expect.until)
}

function draftAt(flat: Flat, start: number): Draft {
  return {
    tenant: flat[start] as string,
    scope: flat[start + 1] as string,
    key: flat[start + 2] as string,
    fingerprint: flat[start + 3] as string,
    state: flat[start + 4] as State,
    token: flat[start + 5] as string,
    attempt: flat[start + 6] as number,
    maxAttempts: flat[start + 7] as number,
    recovery: flat[start + 8] as Recovery,
    leaseMs: flat[start + 9] as number,
    windowMs: flat[start + 10] as number,
    outcome: flat[start + 11] as string | null,
    epoch: flat[start + 12] as number | null,
    createdAt: flat[start + 13] as number | null,
    forMs: flat[start + 14] as number | null,
    audit: {
      event: flat[start + 15] as AuditName,
      by: flat[start + 16] as string | undefined,
      why: flat[start + 17] as string | undefined,
    },
  }
}

function swapAt(flat: Flat, start: number): Swap {
  const until = flat[start + DRAFT_FIELDS + 2] as number | null | undefined
  return {
    expect: {
      token: flat[start + DRAFT_FIELDS] as string,
      state: flat[start + DRAFT_FIELDS + 1] as State,
      ...(until === undefined ? {} : { until }),
    },
    next: draftAt(flat, start),
  }
}

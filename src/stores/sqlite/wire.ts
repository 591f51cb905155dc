/**
 * Drafts and swaps on their way to the worker thread: one flat array for a whole batch, which is copied between
 * threads several times faster than as many objects are. The first of a run crosses as it is; of those that follow
 * and differ from it in nothing but their texts, only the texts do. Everything else crosses as it is.
 */
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import type { Verb } from './verbs.js'

type Flat<T> = (T | string | null)[]

export function pack(verb: Verb, input: unknown): unknown {
  if (verb === 'claim') return packDrafts(input as readonly Draft[])
  if (verb === 'swap') return packSwaps(input as readonly Swap[])
  return input
}

export function unpack(verb: Verb, sent: unknown): unknown {
  if (verb === 'claim') return unpackDrafts(sent as Flat<Draft>)
  if (verb === 'swap') return unpackSwaps(sent as Flat<Swap>)
  return sent
}

function packDrafts(drafts: readonly Draft[]): Flat<Draft> {
  const flat: Flat<Draft> = []
  let last: Draft | undefined
  for (const draft of drafts) {
    if (last && draft.outcome === last.outcome && isAlike(draft, last)) {
      flat.push(draft.key, draft.fingerprint, draft.token)
    } else {
      flat.push(draft)
    }
    last = draft
  }
  return flat
}

function unpackDrafts(flat: Flat<Draft>): Draft[] {
  const drafts: Draft[] = []
  let last: Draft | undefined
  for (let at = 0; at < flat.length;) {
    const first = flat[at]
    if (typeof first === 'string') {
      const fingerprint = flat[at + 1] as string
      last = like(last as Draft, first, fingerprint, flat[at + 2] as string, (last as Draft).outcome)
      at += 3
    } else {
      last = first as Draft
      at++
    }
    drafts.push(last)
  }
  return drafts
}

function packSwaps(swaps: readonly Swap[]): Flat<Swap> {
  const flat: Flat<Swap> = []
  let last: Swap | undefined
  for (const swap of swaps) {
    if (last && isAlikeSwap(swap, last)) {
      const { key, fingerprint, token, outcome } = swap.next
      flat.push(key, fingerprint, token, outcome)
    } else {
      flat.push(swap)
    }
    last = swap
  }
  return flat
}

function unpackSwaps(flat: Flat<Swap>): Swap[] {
  const swaps: Swap[] = []
  let last: Swap | undefined
  for (let at = 0; at < flat.length;) {
    const first = flat[at]
    if (typeof first === 'string') {
      const { expect, next } = last as Swap
      const token = flat[at + 2] as string
      last = {
        expect: expect.until === undefined ? { token, state: expect.state } : { ...expect, token },
        next: like(next, first, flat[at + 1] as string, token, flat[at + 3] as string | null),
      }
      at += 4
    } else {
      last = first as Swap
      at++
    }
    swaps.push(last)
  }
  return swaps
}

/** Under the token that is expected, both of them, and otherwise alike. */
function isAlikeSwap({ expect, next }: Swap, last: Swap): boolean {
  return (
    expect.token === next.token &&
    last.expect.token === last.next.token &&
    expect.state === last.expect.state &&
    expect.until === last.expect.until &&
    isAlike(next, last.next)
  )
}

/** In everything but key, fingerprint, token and outcome. */
function isAlike(draft: Draft, last: Draft): boolean {
  return (
    draft.tenant === last.tenant &&
    draft.scope === last.scope &&
    draft.state === last.state &&
    draft.attempt === last.attempt &&
    draft.maxAttempts === last.maxAttempts &&
    draft.recovery === last.recovery &&
    draft.leaseMs === last.leaseMs &&
    draft.windowMs === last.windowMs &&
    draft.epoch === last.epoch &&
    draft.createdAt === last.createdAt &&
    draft.forMs === last.forMs &&
    draft.audit.event === last.audit.event &&
    draft.audit.by === last.audit.by &&
    draft.audit.why === last.audit.why
  )
}

function like(last: Draft, key: string, fingerprint: string, token: string, outcome: string | null): Draft {
  return {
    tenant: last.tenant,
    scope: last.scope,
    key,
    fingerprint,
    state: last.state,
    token,
    attempt: last.attempt,
    maxAttempts: last.maxAttempts,
    recovery: last.recovery,
    leaseMs: last.leaseMs,
    windowMs: last.windowMs,
    outcome,
    epoch: last.epoch,
    createdAt: last.createdAt,
    forMs: last.forMs,
    audit: last.audit,
  }
}

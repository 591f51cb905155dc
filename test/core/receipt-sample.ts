import type { Receipt } from '../../src/core/receipt.js'

/** A receipt that was claimed at 1000 ms with a lease of 100 ms and a window of 10 s. */
export function receipt(changes: Partial<Receipt> = {}): Receipt {
  return {
    tenant: 'acme',
    scope: 'refund',
    key: 'k1',
    fingerprint: '1:abc',
    state: 'pending',
    token: 'secret-token',
    attempt: 1,
    maxAttempts: 3,
    recovery: 'retry',
    leaseMs: 100,
    windowMs: 10_000,
    outcome: null,
    epoch: 1_000_000,
    createdAt: 1_000,
    at: 1_000,
    until: 1_100,
    ...changes,
  }
}

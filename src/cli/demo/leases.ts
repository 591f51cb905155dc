/** One length for every lease and for the queue's visibility, so that a killed instance loses all of them together. */
export const LEASE_MS = 3_000
/** Nothing in a storm is given up because it was killed often. */
export const MOST_ATTEMPTS = 1_000

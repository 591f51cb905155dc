/**
 * What is verified, as data: policies with bounds, in a small and a large size, and the faults that the same
 * properties have to find. `name` is what a person reads; the rest are the model's own settings.
 */
/**
 * What the engine does, of what the model can be told to do. AGAIN: whoever is not the first to hold a receipt checks
 * before it runs. LATE: an answer that took longer than a lease is asked for again. Without AGAIN, a status check
 * has to be SURE of what it says about a held receipt.
 */
const ENGINE = { AGAIN: true, LATE: true }
const CHECKED = ENGINE.AGAIN ? {} : { SURE: true }

const NONE = { TICKS: 0, EXPIRES: 0, LOSTS: 0, CRASHES: 0, ERRS: 0, SWEEPS: 0, RESOLVES: 0 }

const POLICIES = [
  { name: 'hold', POLICY: 'HOLD' },
  { name: 'retry', POLICY: 'RETRY' },
  { name: 'check', POLICY: 'CHECK', ...CHECKED },
  { name: 'check, a downstream that fences', POLICY: 'CHECK', ...CHECKED, FENCE: true },
]

function each(bounds) {
  return POLICIES.map(({ name, ...policy }) => ({ name, defines: { ...policy, ...ENGINE, ...bounds } }))
}

/** Seconds: two workers, one of each kind of trouble, in two mixtures. */
const SMALL = [
  ...each({ ...NONE, TICKS: 1, CRASHES: 1, SWEEPS: 1, RESOLVES: 1 }),
  ...each({ ...NONE, TICKS: 1, LOSTS: 1, ERRS: 1 }),
]

/**
 * A quarter of an hour: all of it at once; then each worker calling twice across the end of a window; then three
 * workers. Two calls together with crashes, or with checks that fail, would take hours: those are all at once only.
 */
const ALL_AT_ONCE = { TICKS: 1, LOSTS: 1, CRASHES: 1, ERRS: 1, SWEEPS: 1, RESOLVES: 1, UNCLEARS: 1 }
const ACROSS_WINDOWS = { ...NONE, CALLS: 2, TICKS: 1, EXPIRES: 1, SWEEPS: 1 }
const THREE_WORKERS = { ...NONE, NW: 3, TICKS: 1, CRASHES: 1, SWEEPS: 1 }

const FULL = [
  ...each(ALL_AT_ONCE),
  ...each({ ...ACROSS_WINDOWS, ERRS: 1 }).slice(0, 2),
  ...each(ACROSS_WINDOWS).slice(2),
  ...each(THREE_WORKERS).slice(0, 2),
]

export const runsOf = (size) => (size === 'full' ? FULL : SMALL)

const ONE_OF_EACH = { POLICY: 'HOLD', ...NONE, TICKS: 1, ERRS: 1, SWEEPS: 1 }

/** Each must end in a violated assertion; one that does not makes every figure above worthless. */
export const FAULTS = [
  { name: 'a swap that compares no token', defines: { ...ONE_OF_EACH, POLICY: 'RETRY', NO_TOKEN: true } },
  { name: 'a claim that reads, then inserts', defines: { ...ONE_OF_EACH, READ_THEN_INSERT: true } },
  {
    name: 'a settlement that compares nothing',
    defines: { ...ONE_OF_EACH, POLICY: 'RETRY', SETTLE_BLIND: true },
  },
  { name: "a lease judged by the caller's own clock", defines: { ...ONE_OF_EACH, LOCAL_CLOCK: true } },
  {
    name: 'a takeover that does not see a renewal',
    defines: { ...ONE_OF_EACH, POLICY: 'RETRY', NO_UNTIL: true },
  },
  {
    name: 'a purge that forgets the epoch',
    defines: { ...ONE_OF_EACH, CALLS: 2, EXPIRES: 1, NO_FLOOR: true },
  },
]

/** A held effect that is still in the air is found missing by a check, and run again, unchecked. */
const UNCHECKED = { POLICY: 'CHECK', FENCE: true, ...NONE, ERRS: 1, UNCLEARS: 1 }
const UNCHECKED_NAME = 'a receipt that a check released, run again unchecked'
if (ENGINE.AGAIN) FAULTS.push({ name: UNCHECKED_NAME, defines: UNCHECKED })

/** Where the engine has a limit that the model knows how to close: kept, so that it stays known. */
export const LIMITS = ENGINE.AGAIN
  ? []
  : [{ name: UNCHECKED_NAME, defines: UNCHECKED, closedBy: { AGAIN: true } }]

/**
 * Richer than what can be verified whole: where traces to replay come from. A random run crashes early, so that half of
 * them are left alive.
 */
export const TRACED = [
  { name: 'hold', defines: { POLICY: 'HOLD' } },
  { name: 'retry', defines: { POLICY: 'RETRY' } },
  { name: 'check', defines: { POLICY: 'CHECK', ...CHECKED } },
  { name: 'check', defines: { POLICY: 'CHECK', ...CHECKED, FENCE: true } },
].flatMap(({ name, defines }) =>
  [0, 1].flatMap((CRASHES) => [
    { name, workers: 2, calls: 3, defines: { ...defines, ...traced(2, 3), CRASHES } },
    { name, workers: 3, calls: 2, defines: { ...defines, ...traced(3, 2), CRASHES } },
  ]),
)

function traced(NW, CALLS) {
  const bounds = { MAXATT: 3, TICKS: 3, EXPIRES: 1, LOSTS: 4, ERRS: 2, SWEEPS: 2, RESOLVES: 1, UNCLEARS: 1 }
  return { NW, CALLS, ...ENGINE, ...bounds }
}

/** The broker against a bare `once`, in microseconds of CPU per call: at most 25 more. */

const CELLS = [
  { name: 'once, a new action', call: 'bareAction' },
  { name: 'broker, a new action', call: 'brokerAction' },
  { name: 'added to a new action', call: 'addedToAction' },
  { name: 'once, a duplicate', call: 'bareDuplicate' },
  { name: 'broker, a duplicate', call: 'brokerDuplicate' },
  { name: 'added to a duplicate', call: 'addedToDuplicate' },
]
const MOST_ADDED = 25

const overhead = {
  title: 'Broker over a bare once, memory store, CPU per call',
  rounds: 3,
  open: ({ quick }) => ({ count: quick ? 10_000 : 50_000 }),
  cells: CELLS.map(({ name, call }) => ({
    name,
    unit: 'µs',
    measure: ({ count }) => ({ module: 'broker.mjs', call, settings: { count, callers: 64 } }),
  })),
  ratios: ['added to a new action', 'added to a duplicate'].map((of) => ({ of, to: MOST_ADDED, atMost: 1 })),
}

export const suites = [overhead]

/** What setTimeout can count to: Node takes a longer time for none at all. Whoever waits longer looks again. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

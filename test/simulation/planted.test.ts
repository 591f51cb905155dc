/** A fault that is planted in the store is found, and told in a story that a person can follow. */
import { describe, expect, test } from 'vitest'
import { describeFound, explainSeed, PLANTS, simulate } from '../../src/testing/simulation/index.js'

/** Enough for the rarest of them, several times over. */
const MOST_OPERATIONS = 200_000
/** What is left of scenarios of dozens to hundreds of steps. */
const MOST_STEPS = 10
/** They shrink stories on a busy machine. */
const TIMEOUT_MS = 180_000

describe('[R61] the simulation finds what it has to, and tells it', () => {
  test.each(Object.entries(PLANTS))(
    '%s',
    async (name, plant) => {
      const { violations } = await simulate({ seed: 1, operations: MOST_OPERATIONS, plant, untilFound: true })
      const seed = violations[0]?.seed as number
      expect(seed, `${name} was not found`).toBeDefined()

      const found = await explainSeed(seed, plant)
      expect(found?.violation.promise).toBe(violations[0]?.violation.promise)
      expect(found?.scenario.steps.length).toBeLessThanOrEqual(MOST_STEPS)
      const report = describeFound(found as NonNullable<typeof found>)
      expect(report).toMatch(new RegExp(`^seed ${seed} breaks a promise: `))
      expect(report).toMatch(/\d+ of \d+ steps are enough:\n {4}1\. /)
      expect(report).toMatch(/BROKEN: /)
      expect(report).toContain(`node scripts/simulate.mjs --replay ${seed}`)

      // Without the fault, the same seed keeps every promise.
      expect(await explainSeed(seed)).toBeUndefined()
    },
    TIMEOUT_MS,
  )
})

/** The crash matrix on Redis: a process killed at every point between claim and settle, under every policy. */
import { describe, expect, it } from 'vitest'
import { crashMatrix } from '../../src/testing/index.js'
import { withRedis } from './bench.js'

withRedis()
const MODULE = new URL('../fixtures/redis-store.mjs', import.meta.url)

describe('[R7][R61] a crash at every point between claim and settle, on Redis', () => {
  for (const policy of ['hold', 'check', 'retry'] as const) {
    it(`keeps the promise of ${policy}`, async () => {
      const cells = await crashMatrix({ module: MODULE, policies: [policy], leaseMs: 500 })
      expect(
        cells.filter(({ violation }) => violation !== undefined),
        'cells that broke a promise',
      ).toEqual([])
      expect(
        cells.filter(({ killed }) => killed.includes(false)).map(({ points }) => points),
        'points that were never reached',
      ).toEqual([])
      expect(cells.length).toBeGreaterThanOrEqual(8)
    }, 180_000)
  }
})

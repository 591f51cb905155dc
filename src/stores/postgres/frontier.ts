/**
 * The frontier: every pending receipt that was claimed before it is marked, so that whoever looks for pending receipts
 * reads the marked ones and the young ones, not all (see `advance` in statements.ts). It is moved on by whoever purges
 * or looks, one process at a time; a little at a time, should it be far behind.
 */
import { send } from './desk.js'
import type { Driver } from './driver.js'
import { ADVANCE_BY, type Statements } from './statements.js'

export interface Frontier {
  /** Never rejects: where it cannot be moved now, it is moved later. */
  advance(): Promise<void>
}

const EVERY_MS = 5_000
const LONGEST_MS = 2_000

export function createFrontier(driver: Driver, sql: Statements): Frontier {
  let nextMs = 0
  let moving: Promise<void> | undefined

  async function move(): Promise<void> {
    const startMs = performance.now()
    while (performance.now() - startMs < LONGEST_MS) {
      const [quiet] = await send(driver, sql.quiet, [])
      const upTo = quiet?.[0] ?? null
      const visited = upTo === null ? 0 : Number((await send(driver, sql.advance, [upTo]))[0]?.[0])
      if (visited >= ADVANCE_BY) continue
      nextMs = performance.now() + EVERY_MS
      return
    }
  }

  return {
    async advance() {
      if (performance.now() < nextMs) return
      // A row that would be marked may be in use, or the server gone: whoever asked has a statement of its own to fail.
      moving ??= move()
        .catch(() => {})
        .finally(() => {
          moving = undefined
        })
      await moving
    },
  }
}

/** Failures: of the handler, of its time, of the store. */
import { expect } from 'vitest'
import { call, fresh, problem } from '../client.js'
import { isProblem, type Scenario, sameResponse, twice } from './expectations.js'

export const FAILURES: readonly Scenario[] = [
  [
    'failed 4xx: final, and given again; one that a later try can change gives the key back [R5] [R9]',
    async (site) => {
      for (const status of [400, 404, 422]) {
        const { key, mark } = fresh()
        sameResponse(...(await twice(site, { key, path: `/act?mark=${mark}&status=${status}` })))
        expect(site.effects(mark)).toBe(1)
      }
      const { key, mark } = fresh()
      const [first, again] = await twice(site, { key, path: `/act?mark=${mark}&status=429` })
      expect([first.status, again.status, again.replayed, site.effects(mark)]).toEqual([429, 429, false, 2])
    },
  ],
  [
    'failed 5xx: the client gets it, the key is held, and a duplicate is told so [R9]',
    async (site) => {
      const { key, mark } = fresh()
      const [first, again] = await twice(site, { key, path: `/act?mark=${mark}&status=502` })
      expect([first.status, first.replayed]).toEqual([502, false])
      expect(JSON.parse(first.text)).toHaveProperty('refund')
      isProblem(again, 409, 'OUTCOME_UNKNOWN')
      expect(again.headers['retry-after']).toBeUndefined()
      expect([problem(again).retriable, site.effects(mark)]).toEqual([false, 1])
      const retried = await twice(site, { key, path: `/repeat?mark=${mark}-r&status=502` })
      expect([retried.map(({ status }) => status), site.effects(`${mark}-r`)]).toEqual([[502, 502], 2])
    },
  ],
  [
    'thrown: the framework answers 500, the key is held, and no secret comes out [R9]',
    async (site) => {
      const { key, mark } = fresh()
      const [first, again] = await twice(site, { key, path: `/act?mark=${mark}&do=throw` })
      expect(first.status).toBe(500)
      isProblem(again, 409, 'OUTCOME_UNKNOWN')
      expect(first.text + again.text).not.toContain('hunter2')
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'time-out: 504 at once, the key is held, and the late response changes nothing [R61]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/brief?mark=${mark}&gate=${mark}` }
      isProblem(await call(site.port, ask), 504, 'OUTCOME_UNKNOWN')
      site.open(mark)
      isProblem(await call(site.port, ask), 409, 'OUTCOME_UNKNOWN')
      expect(site.effects(mark)).toBe(1)
      const next = fresh()
      expect((await call(site.port, { key: next.key, path: `/act?mark=${next.mark}` })).status).toBe(201)
    },
  ],
  [
    'store down: 503, nothing runs, no address comes out; afterwards the key is good [R12]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}` }
      site.put('outage')
      const down = await call(site.port, ask).finally(() => site.remove('outage'))
      isProblem(down, 503, 'STORE_UNAVAILABLE')
      expect(down.headers['retry-after']).toBe('1')
      expect(down.text).not.toContain('db-7')
      expect(site.effects(mark)).toBe(0)
      sameResponse(...(await twice(site, ask)))
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'store down while the handler runs: the response waits for its receipt [R61]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}&gate=${mark}` }
      const first = call(site.port, ask)
      await site.begun(mark)
      site.put('outage')
      site.open(mark)
      const during = await call(site.port, { ...ask, key: fresh().key }).finally(() => site.remove('outage'))
      isProblem(during, 503, 'STORE_UNAVAILABLE')
      sameResponse(await first, await call(site.port, ask))
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'store slow: nothing runs until it has answered, and duplicates wait together [R12]',
    async (site) => {
      const { key, mark } = fresh()
      const ask = { key, path: `/act?mark=${mark}` }
      site.put('slow')
      const both = [call(site.port, ask), call(site.port, ask)]
      const missing = await call(site.port, { path: ask.path })
      expect([missing.status, site.effects(mark)]).toEqual([400, 0])
      site.remove('slow')
      const got = await Promise.all(both)
      expect(got.map(({ status }) => status)).toEqual([201, 201])
      expect([got.filter(({ replayed }) => replayed).length, site.effects(mark)]).toEqual([1, 1])
    },
  ],
]

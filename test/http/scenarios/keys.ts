/** Keys: which ones are taken, from whom, and for what. */
import { expect } from 'vitest'
import { call, fresh, problem } from '../client.js'
import { isProblem, type Scenario, sameResponse, twice } from './expectations.js'

export const KEYS: readonly Scenario[] = [
  [
    'missing: 400; where it is optional, it passes; where it is derived, a duplicate is one [R21] [R40]',
    async (site) => {
      const { mark } = fresh()
      const missing = await call(site.port, { path: `/act?mark=${mark}` })
      isProblem(missing, 400, 'INVALID_INTENT')
      expect(problem(missing).detail).toContain('missing')
      expect(site.effects(mark)).toBe(0)
      await twice(site, { path: `/optional?mark=${mark}` })
      expect(site.effects(mark)).toBe(2)
      sameResponse(...(await twice(site, { path: `/derived?mark=${mark}-d` })))
      await call(site.port, { path: `/derived?mark=${mark}-d`, body: '{}' })
      expect(site.effects(`${mark}-d`)).toBe(2)
    },
  ],
  [
    'malformed: 400, nothing runs, nothing is written',
    async (site) => {
      const { mark } = fresh()
      const keys = ['"', '"abc', 'abc"', 'a b', 'a,b', '"a" "b"', '""', '"a\\b"', ';', "a;b'", '"a", "b"', '']
      for (const key of keys) {
        const got = await call(site.port, { key, path: `/act?mark=${mark}`, headers: { 'x-tenant': mark } })
        isProblem(got, 400, 'INVALID_INTENT')
      }
      const two = await call(site.port, {
        path: `/act?mark=${mark}`,
        headers: { 'x-tenant': mark, 'idempotency-key': 'one', 'x-idempotency-key': 'two' },
      })
      isProblem(two, 400, 'INVALID_INTENT')
      expect(site.effects(mark)).toBe(0)
      expect((await call(site.port, { method: 'GET', path: `/receipts?tenant=${mark}` })).text).toBe('[]')
    },
  ],
  [
    'too long: 256 characters are refused, 255 are a key',
    async (site) => {
      const { mark } = fresh()
      const path = `/act?mark=${mark}`
      isProblem(await call(site.port, { path, key: mark.padEnd(256, 'x') }), 400, 'INVALID_INTENT')
      expect(site.effects(mark)).toBe(0)
      sameResponse(...(await twice(site, { path, key: mark.padEnd(255, 'x') })))
    },
  ],
  [
    'unicode: refused in a header, which is ASCII, and a key like any other in a query parameter',
    async (site) => {
      const { mark } = fresh()
      const bytes = Buffer.from(`"${mark}-ключ"`).toString('latin1')
      isProblem(await call(site.port, { path: `/act?mark=${mark}`, key: bytes }), 400, 'INVALID_INTENT')
      const path = `/act?mark=${mark}&key=${encodeURIComponent(`${mark}-ключ-🔑`)}`
      sameResponse(...(await twice(site, { path })))
      const broken = await call(site.port, { path: `/act?mark=${mark}&key=a%00b` })
      isProblem(broken, 400, 'INVALID_INTENT')
      expect(site.effects(mark)).toBe(1)
    },
  ],
  [
    'another tenant: its own key, its own effect; nobody: 403 [R1]',
    async (site) => {
      const { key, mark } = fresh()
      const path = `/act?mark=${mark}`
      const mine = await call(site.port, { key, path })
      const theirs = await call(site.port, { key, path, headers: { 'x-tenant': 'other' } })
      expect([theirs.status, theirs.replayed, theirs.text === mine.text]).toEqual([201, false, false])
      isProblem(
        await call(site.port, { key, path, headers: { 'x-tenant': 'nobody' } }),
        403,
        'FORBIDDEN_SCOPE',
      )
      expect(site.effects(mark)).toBe(2)
    },
  ],
  [
    'HEAD, GET and OPTIONS ask for nothing, and pass with or without a key',
    async (site) => {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const { key, mark } = fresh()
        const ask = { method, path: `/act?mark=${mark}`, headers: { 'x-tenant': mark } }
        await twice(site, { ...ask, key })
        const last = await call(site.port, ask)
        expect([method, last.status, last.replayed, site.effects(mark)]).toEqual([method, 201, false, 3])
        expect((await call(site.port, { method: 'GET', path: `/receipts?tenant=${mark}` })).text).toBe('[]')
      }
    },
  ],
]

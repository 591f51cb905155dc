/** Fuzzed headers and bodies: whatever comes, a client's mistake is a client's mistake. */
import { expect } from 'vitest'
import { random } from '../../../src/testing/random.js'
import { call, fresh } from '../client.js'
import type { Scenario } from './expectations.js'

/** What can stand in a header at all; whether it makes a key is another matter. */
const CHARACTERS = ' \t!"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\u0080\u00a0\u00e9\u00ff'
const TYPES = [
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'multipart/x; boundary="',
  'a/b',
]
/** The rule of the header, written down a second time: visible ASCII in one run, or between quotes. */
const GOOD = /^[\t ]*([!#-+\--:<-~]{1,255}|"([ !#-[\]-~]|\\["\\])+"(\s*;[\s!#-~]*)?)[\t ]*$/

export const fuzzed: readonly Scenario[] = [
  [
    'fuzzed keys: 400 or a key, never a 500, never a hang, never an entry for what is none',
    async (site) => {
      const { mark } = fresh()
      const chance = random(20_261)
      const some = (text: string): string => text[Math.floor(chance.next() * text.length)] as string
      const keys = Array.from({ length: 150 }, () =>
        Array.from({ length: 1 + Math.floor(chance.next() * 12) }, () => some(CHARACTERS)).join(''),
      )
      const bad = keys.filter((key) => !GOOD.test(key))
      expect(bad.length).toBeGreaterThan(100)
      const path = `/act?mark=${mark}`
      const all = await Promise.all(
        bad.map((key) => call(site.port, { key, path, headers: { 'x-tenant': mark } })),
      )
      expect(all.filter(({ status }) => status !== 400)).toEqual([])
      expect(site.effects(mark)).toBe(0)
      expect((await call(site.port, { method: 'GET', path: `/receipts?tenant=${mark}` })).text).toBe('[]')
    },
  ],
  [
    'fuzzed bodies and content types: never a 500, never a hang',
    async (site) => {
      const { mark } = fresh()
      const chance = random(4_711)
      const asks = Array.from({ length: 60 }, (_, n) => ({
        key: `"${mark}-${n}"`,
        path: `/${chance.next() < 0.5 ? 'json' : 'act'}?mark=${mark}&do=size`,
        headers: { 'content-type': TYPES[n % TYPES.length] as string },
        body: Uint8Array.from({ length: Math.floor(chance.next() * 400) }, () =>
          Math.floor(chance.next() * 256),
        ),
      }))
      const all = await Promise.all(asks.map((ask) => call(site.port, ask)))
      expect(all.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([])
      const again = await Promise.all(asks.map((ask) => call(site.port, ask)))
      expect(again.map(({ status, text }) => [status, text])).toEqual(
        all.map(({ status, text }) => [status, text]),
      )
    },
  ],
]

/** Settings: one table, three places, and messages that name the field as it was given. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { flagOf, readSettings, SETTINGS, variableOf } from '../../src/server/settings.js'

function file(content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ibid.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('a flag counts before the environment, that before the file, that before the default', () => {
  const path = file({ port: 1, host: 'a', maxBatch: 7, maxWait: '2m' })
  const read = readSettings({ port: '3' }, { IBID_PORT: '2', IBID_HOST: 'b' }, path)
  expect(read).toMatchObject({
    port: 3,
    host: 'b',
    maxBatch: 7,
    maxWait: 120_000,
    log: 'info',
    upstream: undefined,
  })
  expect(readSettings({}, { IBID_CONFIG: path, IBID_MAX_BATCH: '9' })).toMatchObject({ port: 1, maxBatch: 9 })
})

test.each([
  [{ port: 'x' }, {}, /^--port is "x", not a port/],
  [{}, { IBID_PORT: '70000' }, /^IBID_PORT is "70000", not a port/],
  [{}, { IBID_MAX_WAIT: 'soon' }, /^IBID_MAX_WAIT is "soon", which is not a duration/],
  [{ log: 'loud' }, {}, /^--log is "loud", not one of info, warn, error, off/],
  [{ localKey: 'maybe' }, {}, /^--local-key is "maybe", not true or false/],
  [{ maxBodyBytes: '-1' }, {}, /^--max-body-bytes is "-1", not a whole number/],
  [{ upstream: 'ftp://user:pw@x' }, {}, /^--upstream is something else, not a URL with http or https/],
])('%j %j is refused by name', (flags, env, message) => {
  expect(() => readSettings(flags, env)).toThrow(message)
})

test.each([
  [{ prot: 1 }, /ibid\.json: prot is not a setting/],
  [{ port: '7878x' }, /ibid\.json: port is "7878x"/],
  [{ tenants: { acme: { ratePerSecond: 'fast' } } }, /tenants\.acme\.ratePerSecond is "fast"/],
  [{ tenants: { acme: { rate: 1 } } }, /tenants\.acme has "rate"/],
  [{ webhooks: {} }, /webhooks is not a list/],
  ['{', /ibid\.json is no JSON object/],
  ['[]', /ibid\.json is no JSON object/],
])('a file with %j is refused by name', (content, message) => {
  expect(() => readSettings({}, {}, file(content))).toThrow(message)
})

test('a file that is not there is refused by name', () => {
  expect(() => readSettings({}, {}, '/nowhere/ibid.json')).toThrow(/\/nowhere\/ibid\.json cannot be read/)
})

test('every setting has a flag and a variable of its own', () => {
  const names = Object.keys(SETTINGS)
  expect(new Set(names.map(flagOf)).size).toBe(names.length)
  expect(new Set(names.map(variableOf)).size).toBe(names.length)
  expect([flagOf('maxBodyBytes'), variableOf('maxBodyBytes')]).toEqual([
    '--max-body-bytes',
    'IBID_MAX_BODY_BYTES',
  ])
})

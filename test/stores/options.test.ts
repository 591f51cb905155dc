/** What cannot work is refused when it is given, before anything is opened: not found out by a call that never ends. */
import { expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.js'
import { sqliteStore } from '../../src/stores/sqlite/index.js'

const NO_NUMBERS = [Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as unknown as number]

it.each(['busyMs', 'maxBytes', 'generationSize'])('sqliteStore refuses a %s that is none', (field) => {
  for (const given of NO_NUMBERS) {
    const refused = () => sqliteStore('/nowhere/ibid.db', { [field]: given })
    expect(refused, String(given)).toThrow(
      expect.objectContaining({ code: 'INVALID_INTENT', message: expect.stringContaining(field) }),
    )
  }
})

it('sqliteStore refuses a thread that it does not know', () => {
  const wrong = { thread: 'wroker' as 'worker' }
  expect(() => sqliteStore('/nowhere/ibid.db', wrong)).toThrow(
    expect.objectContaining({ code: 'INVALID_INTENT' }),
  )
})

it.each([
  'maxConnections',
  'connectTimeoutMs',
  'statementTimeoutMs',
  'lockTimeoutMs',
  'idleInTransactionMs',
  'maxBatch',
  'lanes',
])('postgresStore refuses a %s that is none', (field) => {
  for (const given of NO_NUMBERS) {
    const refused = () => postgresStore('postgres://localhost/ibid', { [field]: given })
    expect(refused, String(given)).toThrow(
      expect.objectContaining({ code: 'INVALID_INTENT', message: expect.stringContaining(field) }),
    )
  }
})

it('the smallest and the largest that can work are taken', async () => {
  const least = { maxConnections: 1, lockTimeoutMs: 0, statementTimeoutMs: 1, maxBatch: 1, lanes: 1 }
  await postgresStore('postgres://localhost/ibid', least).close()
  await sqliteStore('/nowhere/ibid.db', { busyMs: 0, maxBytes: 1, thread: 'caller' }).close()
  await sqliteStore('/nowhere/ibid.db', { busyMs: 86_400_000, maxBytes: Number.MAX_SAFE_INTEGER }).close()
})

import { expect, it } from 'vitest'
import { mustNotEnd } from '../../src/core/transaction-sql.js'
import { refusal } from '../key/refusal.js'

it.each([
  'commit',
  'COMMIT;',
  ' end',
  'abort work',
  'rollback',
  'rollback and chain',
  'begin immediate',
  'start   transaction',
  "prepare transaction 'a'",
  '-- said\ncommit',
  '/* a */ /* b */;; ROLLBACK',
  'rollback;to',
  '/* a /* b */ c */ commit',
  '/* a /* b */ commit',
  '/**//* /*/* */*/ */-- x\rend',
  '-- x\r/* \n commit',
  '-- x\rcommit',
])('%j ends a transaction, or begins one, and is refused [R10]', (sql) => {
  const error = refusal(() => mustNotEnd(sql))
  expect(error.code).toBe('INVALID_INTENT')
  expect(error.retriable).toBe(false)
  expect(error.message).toContain('nothing was written')
  expect(error.message).toContain(JSON.stringify(sql.trim()))
})

it.each([
  'insert into t values (1)',
  'select 1 -- commit',
  'savepoint a',
  'release a',
  'rollback to a',
  'ROLLBACK TO SAVEPOINT a',
  'rollback work to a',
  'rollback transaction to a',
  'update ended set commit = 1',
  'commitment()',
  'prepare a as select 1',
  '/* commit */ select 1',
  '-- commit',
  '/* a /* b */ c */ select 1',
  '/* /* commit',
  '',
])('%j does not [R10]', (sql) => {
  expect(() => mustNotEnd(sql)).not.toThrow()
})

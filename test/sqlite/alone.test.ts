/**
 * A lone settlement is one statement without a transaction around it. Whatever others did to the file since this
 * connection read it, the statement has to notice by itself, and leave it to a transaction.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { settleAlone } from '../../dist/stores/sqlite/alone.js'
import { connect, type Connection, inWrite } from '../../dist/stores/sqlite/connection.js'
import { WRITES } from '../../dist/stores/sqlite/verbs.js'
import { asWritten, type Receipt } from '../../src/core/receipt.js'
import type { Swap } from '../../src/store.js'
import { change, draft } from '../../src/testing/store/drafts.js'
import { countOf, newFile, tamper, valueOf } from './bench.js'

function connected(file: string): Connection {
  const connection = connect({ file })
  onTestFinished(() => connection.db.close())
  return connection
}

function claimed(connection: Connection): Receipt {
  const wanted = draft()
  const { now, answers } = inWrite(connection, (at) => WRITES.claim(connection, [wanted], at, true))
  return asWritten(wanted, now, answers[0] as number)
}

const swap = (connection: Connection, wanted: Swap) =>
  inWrite(connection, (now) => WRITES.swap(connection, [wanted], now, true))

describe('a lone settlement', () => {
  it('is made, with its note, once', () => {
    const mine = connected(newFile())
    const receipt = claimed(mine)
    const settled = change(receipt, 'succeeded')
    expect(settleAlone(mine, [settled])?.answers).toEqual([receipt.epoch])
    expect(settleAlone(mine, [settled])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_audit')).toBe(2)
    expect(valueOf(mine.db, 'SELECT outcome FROM ibid_receipt')).toBe(settled.next.outcome)
  })

  it('[R8] is left to a transaction where somebody has taken over', () => {
    const file = newFile()
    const [mine, theirs] = [connected(file), connected(file)]
    const receipt = claimed(mine)
    const takeover = change(receipt, 'pending', { token: 'theirs', epoch: null })
    expect(swap(theirs, takeover).answers[0]).toBeGreaterThan(receipt.epoch)
    expect(settleAlone(mine, [change(receipt, 'succeeded')])).toBeUndefined()
    expect(swap(mine, change(receipt, 'succeeded')).answers).toEqual([null])
  })

  it('is left to a transaction where this connection has not read the file, or knows no such receipt', () => {
    const file = newFile()
    const [mine, theirs] = [connected(file), connected(file)]
    const settled = change(claimed(theirs), 'succeeded')
    expect(settleAlone(mine, [settled])).toBeUndefined()
    inWrite(theirs, () => {})
    expect(settleAlone(theirs, [{ ...settled, next: { ...settled.next, key: 'another' } }])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_audit')).toBe(1)
  })

  it('is not meant for two, nor for anything that is no settlement', () => {
    const mine = connected(newFile())
    const [one, two] = [claimed(mine), claimed(mine)]
    expect(settleAlone(mine, [change(one, 'succeeded'), change(two, 'succeeded')])).toBeUndefined()
    expect(settleAlone(mine, [change(one, 'pending', { token: 'new', epoch: null })])).toBeUndefined()
    expect(settleAlone(mine, [])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_audit')).toBe(2)
  })

  it('writes nothing into a file that a newer release has changed', () => {
    const file = newFile()
    const mine = connected(file)
    const receipt = claimed(mine)
    tamper(file).exec('UPDATE ibid_meta SET version = 2')
    expect(settleAlone(mine, [change(receipt, 'succeeded')])).toBeUndefined()
    expect(() => swap(mine, change(receipt, 'succeeded'))).toThrow(/schema version 2/)
    expect(countOf(mine.db, 'ibid_audit')).toBe(1)
  })

  it('leaves nothing behind where its note cannot be written', () => {
    const file = newFile()
    const mine = connected(file)
    const receipt = claimed(mine)
    tamper(file).exec('CREATE UNIQUE INDEX refuses ON ibid_audit (count)')
    expect(() => settleAlone(mine, [change(receipt, 'succeeded')])).toThrow('UNIQUE')
    expect(valueOf(mine.db, 'SELECT outcome FROM ibid_receipt')).toBeNull()
  })
})

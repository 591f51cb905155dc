/**
 * A lone claim and a lone settlement are one statement each, without a transaction around it. Whatever others did to
 * the file since this connection read it, the statement has to notice by itself, and leave it to a transaction.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { claimAlone, settleAlone } from '../../dist/stores/sqlite/alone.js'
import { connect, type Connection, inWrite } from '../../dist/stores/sqlite/connection.js'
import type { Row } from '../../dist/stores/sqlite/open.js'
import { toReceipt } from '../../dist/stores/sqlite/receipt.js'
import { WRITES } from '../../dist/stores/sqlite/verbs.js'
import { asWritten, type Draft, type Receipt } from '../../src/core/receipt.js'
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

const claim = (connection: Connection, wanted: Draft) =>
  inWrite(connection, (now) => WRITES.claim(connection, [wanted], now, true))

/** A connection that has read the file, twice: nobody else was at it in between. */
function quiet(file: string): Connection {
  const connection = connected(file)
  for (let i = 0; i < 2; i++) inWrite(connection, () => {})
  return connection
}

describe('a lone claim', () => {
  it('is made, with its note, once', () => {
    const mine = quiet(newFile())
    const wanted = draft()
    const { now, answers } = claimAlone(mine, [wanted]) ?? {}
    expect(answers).toEqual([expect.any(Number)])
    expect(claimAlone(mine, [{ ...wanted, token: 'again' }])).toBeUndefined()
    const found = claim(mine, { ...wanted, token: 'again' }).answers[0] as Row
    expect(toReceipt(found)).toEqual(asWritten(wanted, now as number, answers?.[0] as number))
    expect(countOf(mine.db, 'ibid_audit')).toBe(1)
  })

  it('[R1][R2] is left to a transaction where somebody else has claimed anything since', () => {
    const file = newFile()
    const [mine, theirs] = [quiet(file), connected(file)]
    const wanted = draft()
    claim(theirs, wanted)
    expect(claimAlone(mine, [{ ...wanted, token: 'mine' }])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_receipt')).toBe(1)
    expect(toReceipt(claim(mine, { ...wanted, token: 'mine' }).answers[0] as Row).token).toBe(wanted.token)
  })

  it('gives no id again that was claimed and forgotten by others', () => {
    const file = newFile()
    const [mine, theirs] = [quiet(file), connected(file)]
    claim(theirs, draft({ state: 'released', forMs: 0 }))
    inWrite(theirs, (now) => WRITES.purge(theirs, { limit: 10, auditMs: 0 }, now + 1, true))
    expect(countOf(mine.db, 'ibid_receipt')).toBe(0)
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    claim(mine, draft())
    expect(valueOf(mine.db, 'SELECT id FROM ibid_receipt')).toBe(2)
  })

  it.each([
    ['an epoch that is not above all that were forgotten', 'floor_epoch = 9000000000000000'],
    ['an id of a sealed generation', 'sealed_to = 1'],
    ['a file that a newer release has changed', 'version = 2'],
  ])('is not made with %s', (_, changed) => {
    const file = newFile()
    const mine = quiet(file)
    tamper(file).exec(`UPDATE ibid_meta SET ${changed}`)
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_receipt')).toBe(0)
  })

  it('waits until nobody else is writing: a claim that fails costs more than a transaction', () => {
    const file = newFile()
    const [mine, theirs] = [connected(file), connected(file)]
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    claim(mine, draft())
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    claim(mine, draft())
    expect(claimAlone(mine, [draft()])).toBeDefined()
    claim(theirs, draft())
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    claim(mine, draft())
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_receipt')).toBe(5)
  })

  it('is not meant for two, nor for anything that is no first attempt', () => {
    const mine = quiet(newFile())
    expect(claimAlone(mine, [draft(), draft()])).toBeUndefined()
    expect(claimAlone(mine, [draft({ attempt: 2 })])).toBeUndefined()
    expect(claimAlone(mine, [])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_receipt')).toBe(0)
  })

  it('leaves nothing behind where its note cannot be written', () => {
    const file = newFile()
    const mine = quiet(file)
    tamper(file).exec('CREATE UNIQUE INDEX refuses ON ibid_audit (count)')
    expect(claimAlone(mine, [draft()])).toBeDefined()
    expect(claimAlone(mine, [draft()])).toBeUndefined()
    expect(countOf(mine.db, 'ibid_receipt')).toBe(1)
    expect(() => claim(mine, draft())).toThrow('UNIQUE')
  })

  it('throws what is wrong with the file, and writes nothing', () => {
    const file = newFile()
    const mine = quiet(file)
    const theirs = tamper(file)
    theirs.exec('BEGIN IMMEDIATE')
    expect(() => claimAlone(mine, [draft()])).toThrow('locked')
    theirs.exec('ROLLBACK')
    expect(countOf(mine.db, 'ibid_receipt')).toBe(0)
    expect(claim(mine, draft()).answers).toEqual([expect.any(Number)])
  })
})

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

  it('[R1] of a claim that was rolled back settles nothing, whoever has its id by now', () => {
    const file = newFile()
    const [mine, theirs] = [quiet(file), connected(file)]
    const undone = draft({ token: 'same', epoch: 5 })
    const failing = (now: number): never => {
      WRITES.claim(mine, [undone], now, true)
      throw new RangeError('undone')
    }
    expect(() => inWrite(mine, failing)).toThrow('undone')
    claim(theirs, draft({ token: 'same', epoch: 5 }))
    inWrite(mine, () => {})
    expect(settleAlone(mine, [change(asWritten(undone, 1, 5), 'succeeded')])).toBeUndefined()
    expect(valueOf(mine.db, 'SELECT outcome FROM ibid_receipt')).toBeNull()
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

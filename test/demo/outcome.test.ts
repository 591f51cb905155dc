/** How duplicates and losses are counted: from the files alone, each planted one is seen. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openBook } from '../../src/cli/demo/book.js'
import { ALL, armsOf } from '../../src/cli/demo/layers.js'
import { isClean, type Outcome, outcomeOf } from '../../src/cli/demo/outcome.js'
import { outcomeTable, seedLine, totalLines } from '../../src/cli/demo/report.js'
import { makeStorm } from '../../src/cli/demo/storm.js'
import { folder } from '../cli/command.js'

const storm = makeStorm(3, 30)
const charges = storm.charges.map(({ charge }) => charge)
const [first = '', second = '', third = ''] = charges

function counted(
  refunded: readonly string[],
  mailed: readonly string[],
  dead: readonly string[] = [],
): Outcome {
  const home = folder()
  const [refunds, mails] = [openBook(join(home, 'refunds')), openBook(join(home, 'mails'))]
  for (const [at, charge] of refunded.entries()) refunds.append({ charge, atMs: at })
  for (const [at, charge] of mailed.entries()) mails.append({ charge, atMs: 1_000 + at })
  const firstSentMs = new Map(charges.map((charge) => [charge, 1_000]))
  return outcomeOf({ storm, arm: ALL, refunds, mails, dead: new Set(dead), firstSentMs, kills: 4 })
}

describe('counting', () => {
  test('one of each is clean; latency is from the first webhook to the first mail', () => {
    const outcome = counted(charges, charges)
    expect(outcome).toMatchObject({
      refunds: 30,
      held: 0,
      medianMs: 15,
      p99Ms: 29,
      kills: 4,
      overpaidCents: 0,
    })
    expect(isClean(outcome)).toBe(true)
  })

  test('a second refund, a second mail, a refund or a mail that is missing: each is counted, and none is clean', () => {
    const [extra, mail, lost, unmailed] = [
      counted([...charges, first, first, second], charges),
      counted(charges, [...charges, third]),
      counted(charges.slice(1), charges),
      counted(charges, charges.slice(2)),
    ]
    expect([extra.duplicateRefunds, mail.duplicateMails, lost.lostRefunds, unmailed.lostMails]).toEqual([
      2, 1, 1, 2,
    ])
    const [one, two] = storm.charges
    expect(extra.overpaidCents).toBe(2 * (one?.amountCents ?? 0) + (two?.amountCents ?? 0))
    expect([extra, mail, lost, unmailed].map(isClean)).toEqual([false, false, false, false])
  })

  test('what waits for a person is not lost; refunded twice it is still a duplicate', () => {
    const held = counted(charges.slice(1), charges.slice(2), [first, second])
    expect(held).toMatchObject({ held: 2, lostRefunds: 0, lostMails: 0 })
    expect(isClean(held)).toBe(true)
    expect(isClean(counted([...charges, first], charges.slice(1), [first]))).toBe(false)
  })

  test('a trouble is blamed only where it was the only one', () => {
    const alone = storm.charges.filter(({ troubles }) => troubles.join() === 're-planning')
    const { byTrouble } = counted([...charges, ...charges], charges)
    expect(byTrouble['re-planning']).toEqual({
      charges: alone.length,
      duplicateRefunds: alone.length,
      duplicateMails: 0,
    })
  })
})

const ran = () => ({ ...counted([...charges, first], charges), tenant: 'harbor-3' })

describe('shown to people', () => {
  beforeEach(() => void vi.stubEnv('NO_COLOR', '1'))
  afterEach(() => void vi.unstubAllEnvs())
  test('a column for each set of layers', () => {
    expect(outcomeTable([ran()])).toMatch(/^ +ALL LAYERS\nduplicate refunds +1 \(3 %\)\n/)
  })

  test('a line for each seed, and one for all of them', () => {
    const result = { seed: 3, outcomes: [ran()] }
    expect(seedLine(result)).toBe('seed 3  all layers: 1 + 0 duplicate, 0 lost, 0 held\n')
    expect(totalLines([result, result], armsOf().slice(2))).toBe(
      'all layers: 2 duplicate refunds of 60 (3.3 %), 0 duplicate e-mails, 0 lost, 0 held, 8 kills\n',
    )
  })
})

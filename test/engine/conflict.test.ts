/** A key that comes with another payload, and one that is held: what is put on record about whoever was turned away. */
import { describe, expect, test } from 'vitest'
import { type AuditEvent, OutcomeUnknown } from '../../src/index.js'
import { fingerprint } from '../../src/key/index.js'
import { bench, checking, failure, INTENT, leaveBehind, manual, seen, turn, WHERE } from './bench.js'

const OTHER = { ...INTENT, payload: { payment: 'pay_1', amount: 11 } }
const CAME_AS = `came as ${fingerprint(OTHER.payload)}`

function cannotTell(): never {
  throw new TypeError('cannot tell')
}

async function conflictsOf(ibid: {
  history(where: typeof WHERE): Promise<readonly AuditEvent[]>
}): Promise<readonly AuditEvent[]> {
  return (await ibid.history(WHERE)).filter(({ event }) => event === 'conflict')
}

describe('[R4] [R50] a conflict', () => {
  test.each(['running here', 'running elsewhere', 'settled', 'settled and remembered', 'held'])(
    'has both fingerprints on record: %s',
    async (how) => {
      const on = bench()
      const ibid = on.open()
      const work = manual()
      if (how === 'running here') seen(ibid.once(INTENT, work.effect))
      if (how === 'running elsewhere') await leaveBehind(on, { lease: '1m' })
      if (how.startsWith('settled')) await on.open().once(INTENT, () => 1)
      if (how === 'settled and remembered') await ibid.once(INTENT, () => 1)
      if (how === 'held') await failure(ibid.once(INTENT, () => Promise.reject(new OutcomeUnknown('?'))))
      await turn()
      expect(await failure(ibid.once(OTHER, () => 2))).toMatchObject({ code: 'KEY_REUSED' })
      const [conflict, ...more] = await conflictsOf(ibid)
      expect(more).toEqual([])
      expect(conflict).toMatchObject({ fingerprint: fingerprint(INTENT.payload), why: CAME_AS, count: 1 })
    },
  )

  test('equal ones are counted together, others apart', async () => {
    const ibid = bench().open()
    await ibid.once(INTENT, () => 1)
    for (let i = 0; i < 3; i++) await failure(ibid.once(OTHER, () => 2))
    await failure(ibid.once({ ...OTHER, by: 'key 77' }, () => 2))
    await failure(ibid.once({ ...INTENT, payload: 'third' }, () => 2))
    expect((await conflictsOf(ibid)).map(({ why, by, count }) => [why, by, count])).toEqual([
      [CAME_AS, undefined, 3],
      [CAME_AS, 'key 77', 1],
      [`came as ${fingerprint('third')}`, undefined, 1],
    ])
  })

  test('says what differs where the caller knows, and asks nobody otherwise', async () => {
    const on = bench()
    const ibid = on.open()
    const asked: string[] = []
    const differs = (first: string): string => {
      asked.push(first)
      return 'differs in amount'
    }
    await ibid.once({ ...INTENT, differs }, () => 1)
    await ibid.once({ ...INTENT, differs }, () => 1)
    expect(asked).toEqual([])
    await failure(ibid.claim({ ...OTHER, differs }))
    expect(asked).toEqual([fingerprint(INTENT.payload)])
    expect((await conflictsOf(ibid))[0]?.why).toBe(`${CAME_AS}; differs in amount`)
  })

  test('an explanation that fails is left out, and the refusal stands', async () => {
    const ibid = bench().open()
    await ibid.once(INTENT, () => 1)
    expect(await failure(ibid.once({ ...OTHER, differs: cannotTell }, () => 2))).toMatchObject({
      code: 'KEY_REUSED',
    })
    expect((await conflictsOf(ibid))[0]?.why).toBe(CAME_AS)
  })
})

describe('[R50] [R14] whoever meets a held receipt', () => {
  test('is on record, counted, and the receipt is as it was', async () => {
    const on = bench()
    const ibid = on.open()
    await failure(ibid.once(INTENT, () => Promise.reject(new OutcomeUnknown('no answer'))))
    const held = await ibid.get(WHERE)
    for (let i = 0; i < 3; i++)
      expect(await failure(ibid.once(INTENT, () => 2))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(await failure(ibid.claim(INTENT))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    const [turnedAway, ...more] = (await ibid.history(WHERE)).slice(2)
    expect(more).toEqual([])
    expect(turnedAway).toMatchObject({ event: 'in_flight', state: 'unknown', count: 4 })
    expect(turnedAway?.why).toContain('until a person or a checker resolves it')
    expect(await ibid.get(WHERE)).toEqual(held)
  })

  test('is on record also where a check could not tell, or nothing is left to try', async () => {
    const on = bench()
    const ibid = on.open()
    const unclear = checking(() => ({ found: 'unclear' }))
    await failure(ibid.once(INTENT, () => Promise.reject(new OutcomeUnknown('no answer')), unclear.policy))
    await failure(ibid.once(INTENT, () => 2, unclear.policy))
    const nothing = { ...checking(() => ({ found: false })).policy, maxAttempts: 1 }
    const last = { ...INTENT, key: 'last' }
    await failure(ibid.once(last, () => Promise.reject(new OutcomeUnknown('no answer')), nothing))
    await failure(ibid.once(last, () => 2, nothing))
    const whys = [...(await ibid.history(WHERE)), ...(await ibid.history(last))]
      .filter(({ event }) => event === 'in_flight')
      .map(({ why }) => why)
    expect(whys).toEqual([
      'the status check could not tell',
      'the status check found nothing, but all 1 attempts are used up',
    ])
  })
})

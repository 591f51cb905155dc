/** What is made once for a run of receipts is made again as soon as one of them differs in anything. */
import { describe, expect, it } from 'vitest'
import { noteLine, readSubject, readTerms, subjectLine, termsLine } from '../../src/stores/redis/lines.js'

const TERMS = { maxAttempts: 5, recovery: 'hold', leaseMs: 30_000, windowMs: 86_400_000 } as const
const SUBJECT = { tenant: 'acme', scope: 'refund', key: 'wf_81', fingerprint: '1:abc', attempt: 1 }

describe('the lines of receipts that differ in one member', () => {
  it.each([
    { ...TERMS, maxAttempts: 6 },
    { ...TERMS, recovery: 'retry' as const },
    { ...TERMS, leaseMs: 30_001 },
    { ...TERMS, windowMs: 86_400_001 },
  ])('[R7, R11] have their own terms: $maxAttempts $recovery $leaseMs $windowMs', (other) => {
    for (const terms of [TERMS, other, TERMS]) expect(readTerms(termsLine(terms).trim())).toEqual(terms)
  })

  it.each([
    { ...SUBJECT, tenant: 'acm"e' },
    { ...SUBJECT, scope: 'refund\\' },
    { ...SUBJECT, key: 'wf_81é' },
    { ...SUBJECT, fingerprint: '1:abd' },
    { ...SUBJECT, attempt: 2 },
  ])('[R1, R4] say whose they are: $tenant $scope $key $fingerprint $attempt', (other) => {
    for (const subject of [SUBJECT, other, SUBJECT])
      expect(readSubject(subjectLine(subject))).toEqual(subject)
  })

  it('[R50] have the state that each was in, under one note as under another', () => {
    const note = { event: 'settled' } as const
    const lines = (['succeeded', 'failed', null] as const).map((state) => noteLine(note, state, 1))
    expect(lines).toEqual(['["settled","succeeded",1]\n', '["settled","failed",1]\n', '["settled",null,1]\n'])
    expect(noteLine({ event: 'held' }, null, 1)).toBe('["held",null,1]\n')
    expect(noteLine({ event: 'held', why: 'no\nword' }, null, 2)).toBe('["held",null,2,null,"no\\nword"]\n')
  })
})

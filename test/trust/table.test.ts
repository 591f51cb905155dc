/** The rules of the table itself: a row without a caught control is INVALID, and what was not run says so. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { boundOf, cellsOf, isBad, page, paint, type Report, verdictOf } from '../../scripts/trust/table.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SOUND: Report = {
  ran: { kills: 3_000 },
  tried: 3_000,
  violations: 0,
  control: { planted: 2, caught: 2 },
}
const ROW = { id: 'row', property: 'Nothing breaks' }
const kept = (report: Report): Parameters<typeof cellsOf>[1] => ({
  report,
  size: 'full',
  commit: 'abc1234',
  date: '2030-01-01 00:00',
  durationMs: 120_000,
})

describe('[R61] the verdict of a row', () => {
  it.each([
    ['holds', SOUND],
    ['VIOLATED', { ...SOUND, violations: 1 }],
    ['INVALID', { ...SOUND, control: { planted: 2, caught: 1 } }],
    ['INVALID', { ...SOUND, violations: 1, control: { planted: 1, caught: 0 } }],
    ['INVALID', { ...SOUND, control: { planted: 0, caught: 0 } }],
    ['INVALID', { ran: {}, tried: 5, violations: 0 }],
    ['INVALID', { ...SOUND, ran: { kills: 0, cells: 40 }, tried: 0 }],
    ['holds', { ...SOUND, ran: { mutants: 1_577, killed: 1_497 }, tried: 0 }],
    ['FAILED', { error: 'it came to no end' }],
    ['not run', { notRun: 'the script is not there' }],
    ['not run', undefined],
  ])('is %s', (verdict, report) => {
    expect(verdictOf(report)).toBe(verdict)
  })

  it('fails the run unless the row holds or was not run', () => {
    expect(['INVALID', 'VIOLATED', 'FAILED', 'holds', 'not run'].map(isBad)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })
})

describe('the bound of a count of zero', () => {
  it('is three over the number of tries', () => {
    expect(boundOf(SOUND)).toBe(0.001)
  })

  it('is not given for a count that is not zero, for nothing tried, or where everything was tried', () => {
    expect(boundOf({ ...SOUND, violations: 1 })).toBeUndefined()
    expect(boundOf({ ...SOUND, tried: 0 })).toBeUndefined()
    expect(boundOf({ ...SOUND, exhaustive: true })).toBeUndefined()
    expect(boundOf(undefined)).toBeUndefined()
  })
})

describe('what is printed', () => {
  it('names the commit, the date, the duration, the seeds and the control', () => {
    const text = paint(ROW, kept({ ...SOUND, seeds: '1 to 9' }))
    for (const fact of [
      'holds',
      '3,000 kills',
      '< 1.0e-3',
      '2 of 2',
      '1 to 9',
      'abc1234',
      '2030-01-01',
      '2.0 min',
    ])
      expect(text).toContain(fact)
  })

  it('has no figure for a row that was not run', () => {
    expect(cellsOf(ROW, undefined)).toEqual(['Nothing breaks', 'not run', 'not run yet', '', '', '', '', ''])
    expect(paint(ROW, kept({ notRun: 'the script is not there' }))).not.toMatch(/\d/)
  })

  it('keeps bars out of the cells of the page', () => {
    const text = page(
      [ROW],
      { rows: { row: kept({ ...SOUND, note: 'a|b', details: ['found: x'] }) } },
      { Node: '20' },
    )
    expect(text).toContain('a\\|b')
    expect(text).toContain('Versions: Node 20.')
    expect(text).toContain('- found: x')
  })
})

function trust(...args: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/trust.mjs', ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

describe('npm run trust', () => {
  it(
    '[R61] tries malformed inputs, tenants and failing disks, and their controls',
    { timeout: 240_000 },
    () => {
      const { status, output } = trust('--quick', '--dry', '--only', 'malformed,tenants,syscalls')
      expect(output.match(/^holds /gm)).toHaveLength(3)
      expect(output.match(/control: \d of \d/g)).toEqual([4, 1, 1].map((all) => `control: ${all} of ${all}`))
      expect(status).toBe(0)
    },
  )

  it('ends with 1 and says INVALID when a control is not caught', { timeout: 120_000 }, () => {
    const { status, output } = trust('--dry', '--only', 'blind', '--quick')
    expect(output).toMatch(/^INVALID /m)
    expect(output).toContain('not to be trusted: blind')
    expect(status).toBe(1)
  })

  it('knows its rows', () => {
    expect(trust('--list').output).toContain('crashes')
    const { status, output } = trust('--only', 'no-such-row')
    expect([status, output]).toEqual([1, expect.stringContaining('there is no row no-such-row')])
  })
})

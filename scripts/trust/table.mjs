/**
 * What a row of the trust table says, worked out from what its run reports. Pure: no clock, no files.
 *
 * A report: `ran` (what was done, counts by name), `tried` (of those, the ones that could have gone wrong),
 * `violations`, `seeds`, `control` ({ planted, caught }), or `notRun` with the reason.
 */

/** INVALID comes first: a count of zero means nothing when the same run does not see a planted fault. */
export function verdictOf(report) {
  if (report === undefined) return 'not run'
  if (report.notRun !== undefined) return 'not run'
  if (report.error !== undefined) return 'FAILED'
  const { planted, caught } = report.control ?? { planted: 0, caught: 0 }
  if (planted === 0 || caught < planted || triedNothing(report)) return 'INVALID'
  return report.violations === 0 ? 'holds' : 'VIOLATED'
}

/** No violation in no tries is no news. Where tries are not counted, because no rate follows, no count is zero. */
function triedNothing({ tried, ran = {} }) {
  return tried === 0 && Object.values(ran).includes(0)
}

/** The rule of three: after n tries without one, the rate is below 3/n with 95 % confidence. */
export function boundOf(report) {
  if (report?.violations !== 0 || !(report.tried > 0) || report.exhaustive) return undefined
  return 3 / report.tried
}

export const isBad = (verdict) => verdict === 'INVALID' || verdict === 'VIOLATED' || verdict === 'FAILED'

const figure = (number) => (Number.isInteger(number) ? number.toLocaleString('en') : String(number))

export function cellsOf({ property }, kept) {
  const verdict = verdictOf(kept?.report)
  const report = kept?.report ?? {}
  if (verdict === 'not run') return [property, verdict, report.notRun ?? 'not run yet', '', '', '', '', '']
  if (report.error !== undefined) return [property, verdict, report.error, '', '', '', '', '']
  const ran = Object.entries(report.ran ?? {}).map(([name, count]) => `${figure(count)} ${name}`)
  const bound = boundOf(report)
  const upTo = report.exhaustive ? 'all of them' : bound === undefined ? '' : `< ${bound.toExponential(1)}`
  return [
    property,
    verdict,
    ran.join(', ') + (report.note === undefined ? '' : `; ${report.note}`),
    figure(report.violations),
    upTo,
    `${report.control?.caught ?? 0} of ${report.control?.planted ?? 0}`,
    report.seeds === undefined ? '' : String(report.seeds),
    `${kept.size}, ${durationOf(kept.durationMs)}, ${kept.commit}, ${kept.date}`,
  ]
}

function durationOf(ms) {
  return ms < 90_000 ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`
}

const HEADINGS = [
  'property',
  'verdict',
  'what was run',
  'violations',
  '95 % bound',
  'control',
  'seeds',
  'run',
]

/** For a terminal: one block a row, because the cells are long. */
export function paint(row, kept) {
  const [property, verdict, ran, violations, bound, control, seeds, run] = cellsOf(row, kept)
  const facts = [
    ['ran', ran],
    ['violations', violations === '' ? '' : `${violations}${bound ? ` (95 % bound ${bound})` : ''}`],
    ['control', control === '' ? '' : `${control} planted faults caught`],
    ['seeds', seeds],
    ['run', run],
  ].filter(([, fact]) => fact !== '')
  return [
    `${verdict.padEnd(8)} ${property}`,
    ...facts.map(([name, fact]) => `           ${name}: ${fact}`),
  ].join('\n')
}

const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

export function page(rows, keep, versions) {
  const table = rows.map((row) => line(cellsOf(row, keep.rows[row.id])))
  const details = rows.flatMap((row) => detailsOf(row, keep.rows[row.id]))
  return [
    '# The trust table',
    '',
    'Written by `npm run trust`; not by hand. One row for each property, and for each row a control: a planted fault that',
    'the same run has to notice. A row whose control was not caught says INVALID, whatever its count. Where a count is zero,',
    'the bound is the rule of three: after n tries without a violation the rate is below 3/n with 95 % confidence, for',
    'tries like those. A row that was not run says so. How each row is made: [ADR 23](adr/0023-the-trust-table.md).',
    '',
    line(HEADINGS),
    line(HEADINGS.map(() => '---')),
    ...table,
    '',
    `Versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    ...details,
    '',
  ].join('\n')
}

function detailsOf({ property }, kept) {
  const details = kept?.report?.details ?? []
  return details.length === 0 ? [] : ['', `## ${property}`, '', ...details.map((detail) => `- ${detail}`)]
}

/** The storm's outcome for people: one table for a seed, one line for each of many. */
import { paint } from '../paint.js'
import { type Column, table } from '../table.js'
import { counted } from '../times.js'
import { ALL, type Arm } from './layers.js'
import { isClean } from './outcome.js'
import type { Ran } from './run-storm.js'

export interface SeedResult {
  readonly seed: number
  readonly outcomes: readonly Ran[]
}

interface Row {
  readonly name: string
  readonly cell: (outcome: Ran) => string
  readonly isBad?: (outcome: Ran) => boolean
}

const share = (part: number, { refunds }: Ran): string =>
  part === 0 ? '0' : `${part} (${Math.round((part / refunds) * 100)} %)`

const ROWS: readonly Row[] = [
  {
    name: 'duplicate refunds',
    cell: (outcome) => share(outcome.duplicateRefunds, outcome),
    isBad: ({ duplicateRefunds }) => duplicateRefunds > 0,
  },
  { name: 'paid out too much', cell: ({ overpaidCents }) => `$${(overpaidCents / 100).toFixed(2)}` },
  {
    name: 'duplicate e-mails',
    cell: (outcome) => share(outcome.duplicateMails, outcome),
    isBad: ({ duplicateMails }) => duplicateMails > 0,
  },
  {
    name: 'lost refunds',
    cell: ({ lostRefunds }) => String(lostRefunds),
    isBad: ({ lostRefunds }) => lostRefunds > 0,
  },
  {
    name: 'lost e-mails',
    cell: ({ lostMails }) => String(lostMails),
    isBad: ({ lostMails }) => lostMails > 0,
  },
  { name: 'held for a person', cell: ({ held }) => String(held) },
  { name: 'latency, median', cell: ({ medianMs }) => `${Math.round(medianMs)} ms` },
  { name: 'latency, p99', cell: ({ p99Ms }) => `${Math.round(p99Ms)} ms` },
  { name: 'instances killed', cell: ({ kills }) => String(kills) },
]

export function outcomeTable(outcomes: readonly Ran[]): string {
  const columns: readonly Column<Row>[] = [
    { title: '', cell: ({ name }) => name },
    ...outcomes.map((outcome): Column<Row> => ({
      title: outcome.arm.toUpperCase(),
      cell: ({ cell }) => cell(outcome),
      align: 'right',
      colour: ({ isBad }) => (isBad === undefined ? undefined : isBad(outcome) ? 'red' : 'green'),
    })),
  ]
  return table(ROWS, columns)
}

export function seedLine({ seed, outcomes }: SeedResult): string {
  const parts = outcomes.map((outcome) => {
    const { arm, duplicateRefunds, duplicateMails, lostRefunds, lostMails, held } = outcome
    const lost = lostRefunds + lostMails
    const text = `${arm}: ${duplicateRefunds} + ${duplicateMails} duplicate, ${lost} lost, ${held} held`
    return arm === ALL.name ? paint(text, isClean(outcome) ? 'green' : 'red') : text
  })
  return `seed ${seed}  ${parts.join(' · ')}\n`
}

/** Over all seeds, one line for each set of layers. */
export function totalLines(results: readonly SeedResult[], arms: readonly Arm[]): string {
  return arms
    .map(({ name }) => {
      const outcomes = results.flatMap(({ outcomes }) => outcomes.filter(({ arm }) => arm === name))
      const sum = (of: (outcome: Ran) => number): number => outcomes.reduce((all, each) => all + of(each), 0)
      const refunds = sum((each) => each.refunds)
      const twice = sum(({ duplicateRefunds }) => duplicateRefunds)
      return [
        `${name}: ${counted(twice, 'duplicate refund')} of ${refunds} (${((twice / refunds) * 100).toFixed(1)} %)`,
        counted(
          sum(({ duplicateMails }) => duplicateMails),
          'duplicate e-mail',
        ),
        `${sum(({ lostRefunds, lostMails }) => lostRefunds + lostMails)} lost`,
        `${sum(({ held }) => held)} held`,
        `${counted(
          sum(({ kills }) => kills),
          'kill',
        )}\n`,
      ].join(', ')
    })
    .join('')
}

/**
 * Capacity against plan: how many receipts there are and how fast they come, beside what somebody planned
 * for. The server knows no plan, so it is entered here. Some stores say by themselves how many receipts they
 * have; otherwise, or for one tenant, they are counted by reading them, up to a limit.
 */
import { useState } from 'react'
import { type Api, pathTo, type Problem } from '../api.js'
import { keepPlan, loadPlan, type Plan, recordsOf } from '../plan.js'
import type { Page, Stats, Steps, StoreReport } from '../shapes.js'
import { number, share } from '../wording.js'
import { ProblemNote } from './problem-note.js'

const MOST_PAGES = 20

interface Count {
  readonly receipts: number
  readonly says: '' | 'about ' | 'more than '
}

function toldBy(facts: StoreReport['facts'] | undefined): Count | undefined {
  const { receipts, receiptsAbout } = facts ?? {}
  if (typeof receipts === 'number') return { receipts, says: '' }
  return typeof receiptsAbout === 'number' ? { receipts: receiptsAbout, says: 'about ' } : undefined
}

export function Capacity({
  api,
  stats,
  tenant,
  facts,
}: {
  readonly api: Api
  readonly stats: Stats
  readonly tenant: string
  /** What the check of the store says about it. */
  readonly facts: StoreReport['facts'] | undefined
}) {
  const [plan, setPlan] = useState(loadPlan)
  const [counted, setCounted] = useState<Count>()
  const [problem, setProblem] = useState<Problem>()
  const [isCounting, setCounting] = useState(false)
  const planned = recordsOf(plan) ?? 0
  const live = counted ?? (tenant === '' ? toldBy(facts) : undefined)
  const peak = peakOf(stats.recent)
  const change = (name: keyof Plan, text: string): void => {
    const next = { ...plan, [name]: Number(text) }
    if (text === '' || recordsOf(next) === undefined) return
    keepPlan(next)
    setPlan(next)
  }

  async function count(): Promise<void> {
    setCounting(true)
    let receipts = 0
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const said = await api.get<Page>(pathTo('/v1/receipts', { tenant, limit: '1000', cursor }))
      setProblem(said.ok ? undefined : said.problem)
      if (!said.ok) return setCounting(false)
      receipts += said.value.receipts.length
      cursor = said.value.cursor
      if (cursor === undefined) break
    }
    setCounted({ receipts, says: cursor === undefined ? '' : 'more than ' })
    setCounting(false)
  }

  return (
    <section className="card" aria-labelledby="capacity">
      <h2 id="capacity">Capacity against plan</h2>
      <p className="quiet">
        Live receipts = rate × window × margin, as <code>ibid plan</code> works it out. The plan is kept in
        this browser.
      </p>
      <div className="search">
        <PlanField name="perSecond" label="Originals per second" plan={plan} onChange={change} />
        <PlanField name="windowSeconds" label="Window, in seconds" plan={plan} onChange={change} />
        <PlanField name="margin" label="Margin (0.2 is 20 %)" plan={plan} onChange={change} />
      </div>
      <dl className="bars">
        <Bar
          name="Originals a second, busiest ten seconds of the last hour"
          is={peak}
          of={plan.perSecond}
          words={number(peak)}
        />
        <Bar
          name="Live receipts"
          is={live?.receipts}
          of={planned}
          words={live === undefined ? 'not counted' : `${live.says}${number(live.receipts)}`}
        />
      </dl>
      {problem && <ProblemNote problem={problem} />}
      <button type="button" disabled={isCounting} onClick={() => void count()}>
        {isCounting ? 'Counting…' : 'Count receipts'}
      </button>
    </section>
  )
}

function PlanField({
  name,
  label,
  plan,
  onChange,
}: {
  readonly name: keyof Plan
  readonly label: string
  readonly plan: Plan
  readonly onChange: (name: keyof Plan, text: string) => void
}) {
  return (
    <label>
      {label}
      <input
        type="number"
        min={0}
        max={name === 'margin' ? 1 : undefined}
        step="any"
        defaultValue={name === 'perSecond' && plan[name] === 0 ? '' : plan[name]}
        onChange={(event) => onChange(name, event.target.value)}
      />
    </label>
  )
}

function Bar({
  name,
  is,
  of,
  words,
}: {
  readonly name: string
  readonly is: number | undefined
  readonly of: number
  readonly words: string
}) {
  const isOver = is !== undefined && is > of
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {of > 0 && (
          <progress
            aria-label={name}
            max={of}
            value={Math.min(is ?? 0, of)}
            className={isOver ? 'bad' : ''}
          />
        )}
        <span>
          {words}
          {of > 0 ? `, ${number(of)} planned` : '; no plan yet: enter a rate'}
          {of > 0 && is !== undefined && ` (${share(is, of)})`}
        </span>
      </dd>
    </div>
  )
}

function peakOf({ stepMs, steps }: Steps): number {
  const counts = steps.map(({ layers }) =>
    Object.values(layers).reduce((all, { originals }) => all + originals, 0),
  )
  return (Math.max(0, ...counts) * 1_000) / stepMs
}

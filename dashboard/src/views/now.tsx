/**
 * What is happening now: how much came, how much of it was not done again, by layer and over time, and each
 * decision.
 */
import { useState } from 'react'
import { pathTo } from '../api.js'
import type { Sight } from '../frame.js'
import { overTime } from '../over-time.js'
import { Chart } from '../parts/chart.js'
import { Feed } from '../parts/feed.js'
import { LayerTable } from '../parts/layer-table.js'
import { ProblemNote } from '../parts/problem-note.js'
import { Tile } from '../parts/tile.js'
import type { AuditName, LayerCounts, Stats } from '../shapes.js'
import { type Decision, NOTABLE } from '../use-decisions.js'
import { useLoaded } from '../use-loaded.js'
import { layerOf, number, share, span } from '../wording.js'

const SPANS = {
  hour: { name: 'Last hour', of: 'recent', stepMs: 60_000, length: 60 },
  day: { name: 'Last day', of: 'day', stepMs: 900_000, length: 96 },
} as const

const DUPLICATES: readonly AuditName[] = ['dedup_hit', 'in_flight']
const ATTENTION = NOTABLE.filter((name) => name !== 'takeover')

export function NowView({ api, tenant, decisions }: Sight) {
  const [spanName, setSpan] = useState<keyof typeof SPANS>('hour')
  const [layer, setLayer] = useState('')
  const [paused, setPaused] = useState<readonly Decision[]>()
  const { value: stats, problem } = useLoaded<Stats>(api, pathTo('/v1/stats', { tenant }), 3_000)

  const shown = (paused ?? decisions.latest).filter(
    ({ event }) => layer === '' || layerOf(event.scope) === layer,
  )
  const of = (names: readonly AuditName[]): readonly Decision[] =>
    shown.filter(({ event }) => names.includes(event.event))
  const layers = Object.keys(stats?.totals ?? {}).toSorted()
  const { of: which, stepMs, length } = SPANS[spanName]
  const chart = stats && overTime(stats[which], stepMs, length, api.now(), layer)
  const counts = chart && { originals: sum(chart.originals), duplicates: sum(chart.duplicates) }
  const rate = counts && share(counts.duplicates, counts.originals + counts.duplicates)

  return (
    <>
      <h1>What is happening now</h1>
      {problem && <ProblemNote problem={problem} />}
      {stats && <Figures stats={stats} layer={layer} />}
      <div className="tools">
        <fieldset className="choice">
          <legend className="hidden">Time shown in the charts</legend>
          {Object.entries(SPANS).map(([name, one]) => (
            <label key={name}>
              <input
                type="radio"
                name="span"
                checked={name === spanName}
                onChange={() => setSpan(name as keyof typeof SPANS)}
              />
              {one.name}
            </label>
          ))}
        </fieldset>
        <div className="inline">
          <label htmlFor="layer">Layer</label>
          <select id="layer" value={layer} onChange={(event) => setLayer(event.target.value)}>
            <option value="">every layer</option>
            {layers.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
      </div>
      {chart && counts && (
        <div className="pair">
          <Chart
            title={`Originals and duplicates, per ${span(stepMs)}`}
            words={`${SPANS[spanName].name}: ${counts.originals} originals, ${counts.duplicates} duplicates prevented`}
            at={chart.at}
            stacked
            lines={[
              { name: 'Originals', color: '--original', values: chart.originals },
              { name: 'Duplicates prevented', color: '--duplicate', values: chart.duplicates },
            ]}
          />
          <Chart
            title="Hit rate: the share that was not done again"
            words={`${SPANS[spanName].name}: hit rate ${rate}`}
            at={chart.at}
            range={[0, 100]}
            lines={[{ name: 'Hit rate', color: '--duplicate', values: chart.hitRate, unit: ' %' }]}
          />
        </div>
      )}
      <div className="tools">
        <h2>Decisions as they come in</h2>
        <button
          type="button"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? decisions.latest : undefined)}
        >
          {paused === undefined ? 'Pause' : 'Go on'}
        </button>
      </div>
      <div className="feeds">
        <Feed
          title="Originals"
          about="Claims that may act, and how they ended."
          decisions={shown.filter(({ event }) => ![...DUPLICATES, ...ATTENTION].includes(event.event))}
          empty="Nothing was claimed since this server started."
        />
        <Feed
          title="Duplicates"
          about="Answered without doing anything again."
          decisions={of(DUPLICATES)}
          empty="No duplicate has come yet."
        />
        <Feed
          title="Worth a look"
          about="Held, swept, refused or resolved."
          decisions={of(ATTENTION)}
          empty="Nothing among the decisions that this server remembers."
        />
      </div>
      {stats && layers.length > 0 && <LayerTable totals={stats.totals} />}
    </>
  )
}

function Figures({ stats, layer }: { readonly stats: Stats; readonly layer: string }) {
  const totals = Object.entries(stats.totals).filter(([name]) => layer === '' || name === layer)
  const all = (name: keyof LayerCounts): number => totals.reduce((count, [, one]) => count + one[name], 0)
  const [originals, duplicates] = [all('originals'), all('duplicates')]
  const { claim } = stats.store
  return (
    <dl className="tiles">
      <Tile name="Hit rate" about="of the last day">
        {share(duplicates, originals + duplicates)}
      </Tile>
      <Tile name="Duplicates prevented" about="in the last day" tone="good">
        {number(duplicates)}
      </Tile>
      <Tile name="Originals" about="in the last day">
        {number(originals)}
      </Tile>
      <Tile name="Conflicts" about="same key, other payload" tone={all('conflicts') > 0 ? 'bad' : ''}>
        {number(all('conflicts'))}
      </Tile>
      <Tile name="Came to be held" about="in the last day" tone={all('held') > 0 ? 'bad' : ''}>
        {number(all('held'))}
      </Tile>
      <Tile name="Claim, 99 of 100" about="answered by the store within">
        {claim === undefined || claim.calls === 0 ? '–' : `${claim.p99Ms} ms`}
      </Tile>
    </dl>
  )
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, one) => all + one, 0)
}

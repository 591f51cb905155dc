/**
 * The store: does it keep its promises as it is set up, how fast does it answer, and is there room for what
 * comes.
 */
import { pathTo } from '../api.js'
import type { Sight } from '../frame.js'
import { Capacity } from '../parts/capacity.js'
import { LatencyTable } from '../parts/latency-table.js'
import { ProblemNote } from '../parts/problem-note.js'
import type { Stats, StoreReport } from '../shapes.js'
import { useLoaded } from '../use-loaded.js'
import { number } from '../wording.js'

export function StoreView({ api, me, tenant }: Sight) {
  const mayCheck = me.tenant === '*' && me.rights.includes('admin')
  const check = useLoaded<StoreReport>(api, mayCheck ? '/v1/check' : undefined, 30_000)
  const stats = useLoaded<Stats>(api, pathTo('/v1/stats', { tenant }), 3_000)
  return (
    <>
      <h1>Store</h1>
      <section className="card" aria-labelledby="check">
        <div className="tools">
          <h2 id="check">Does it keep its promises?</h2>
          {mayCheck && (
            <button type="button" onClick={check.reload}>
              Check again
            </button>
          )}
        </div>
        {!mayCheck && (
          <p className="note">
            The check is about the store as a whole: it takes a key of tenant <code>*</code> with the right{' '}
            <code>admin</code>.
          </p>
        )}
        {check.problem && <ProblemNote problem={check.problem} />}
        {check.value && <Report report={check.value} />}
      </section>
      {stats.problem && <ProblemNote problem={stats.problem} />}
      {stats.value && <LatencyTable stats={stats.value} />}
      {stats.value && (
        <Capacity key={tenant} api={api} stats={stats.value} tenant={tenant} facts={check.value?.facts} />
      )}
    </>
  )
}

function Report({ report }: { readonly report: StoreReport }) {
  return (
    <>
      {report.findings.length === 0 && (
        <p className="note good" role="status">
          {report.store}: every promise holds as it is set up.
        </p>
      )}
      {report.findings.map(({ level, code, message, remedy }) => (
        <div key={code} className={`note ${level === 'error' ? 'bad' : ''}`}>
          <p>
            <strong>
              {level}: {message}
            </strong>{' '}
            <code>{code}</code>
          </p>
          <p>{remedy}</p>
        </div>
      ))}
      <dl className="facts">
        {Object.entries(report.facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'number' ? number(value) : String(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

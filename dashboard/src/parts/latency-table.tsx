/**
 * How fast the store answers, by what it is asked. The server counts from its start, and in steps: bounds,
 * not averages.
 */
import type { Stats } from '../shapes.js'
import { number } from '../wording.js'

export function LatencyTable({ stats }: { readonly stats: Stats }) {
  const rows = Object.entries(stats.store)
  return (
    <section className="card" aria-labelledby="latency">
      <h2 id="latency">How fast it answers</h2>
      <p className="quiet">
        Since this server started. Requests that wait for a result: {number(stats.waiters)}. Pages that watch:{' '}
        {number(stats.streams)}.
      </p>
      {rows.length === 0 ? (
        <p className="empty">It was not asked anything yet.</p>
      ) : (
        <div className="wide" role="region" aria-labelledby="latency" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Asked to</th>
                <th scope="col">Calls</th>
                <th scope="col">Half within</th>
                <th scope="col">99 of 100 within</th>
                <th scope="col">Errors</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([verb, { calls, p50Ms, p99Ms, errors }]) => (
                <tr key={verb}>
                  <th scope="row">{verb}</th>
                  <td>{number(calls)}</td>
                  <td>{p50Ms} ms</td>
                  <td>{p99Ms} ms</td>
                  <td className={errors > 0 ? 'bad' : ''}>{number(errors)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

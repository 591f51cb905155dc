/** Originals and duplicates apart, for each layer that a duplicate can be caught in. */
import type { Stats } from '../shapes.js'
import { number, share } from '../wording.js'

export function LayerTable({ totals }: Pick<Stats, 'totals'>) {
  const rows = Object.entries(totals).toSorted(([a], [b]) => a.localeCompare(b))
  return (
    <section className="card" aria-labelledby="layers">
      <h2 id="layers">By layer, in the last day</h2>
      <div className="wide" role="region" aria-labelledby="layers" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Layer</th>
              <th scope="col">Originals</th>
              <th scope="col">Duplicates</th>
              <th scope="col">Hit rate</th>
              <th scope="col">In flight</th>
              <th scope="col">Conflicts</th>
              <th scope="col">Held</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, one]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{number(one.originals)}</td>
                <td>{number(one.duplicates)}</td>
                <td>{share(one.duplicates, one.originals + one.duplicates)}</td>
                <td>{number(one.inFlight)}</td>
                <td>{number(one.conflicts)}</td>
                <td>{number(one.held)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

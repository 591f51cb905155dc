/**
 * What may need somebody: attempts that nobody is at work on any more, what was swept, and keys used for
 * something else.
 */
import { useState } from 'react'
import { pathTo, type Said } from '../api.js'
import type { Sight } from '../frame.js'
import { ProblemNote } from '../parts/problem-note.js'
import { ReceiptRows } from '../parts/receipt-rows.js'
import { linkToReceipt } from '../place.js'
import type { AuditName, Page, Stats, Swept } from '../shapes.js'
import type { Decision } from '../use-decisions.js'
import { useLoaded } from '../use-loaded.js'
import { ago, EVENT_WORDS, number, span } from '../wording.js'

const SWEPT: readonly AuditName[] = ['swept', 'takeover', 'stale']

export function TroubleView({ api, me, tenant, decisions }: Sight) {
  const pending = pathTo('/v1/receipts', { tenant, state: 'pending', limit: '500' })
  const { value, problem, reload } = useLoaded<Page>(api, pending, 10_000)
  const [swept, setSwept] = useState<Said<Swept>>()
  const stats = useLoaded<Stats>(api, pathTo('/v1/stats', { tenant }), 10_000).value
  const conflicts = stats && Object.values(stats.totals).reduce((all, layer) => all + layer.conflicts, 0)
  const nowMs = api.now()
  const stuck = value?.receipts.filter(({ until }) => until !== null && until < nowMs)
  const of = (names: readonly AuditName[]): readonly Decision[] =>
    decisions.latest.filter(({ event }) => names.includes(event.event))
  const maySweep = me.tenant === '*' && me.rights.includes('admin')

  async function sweep(): Promise<void> {
    setSwept(await api.post<Swept>('/v1/sweep', {}))
    reload()
  }

  return (
    <>
      <h1>Trouble</h1>
      {problem && <ProblemNote problem={problem} />}
      <section className="card" aria-labelledby="stuck">
        <div className="tools">
          <h2 id="stuck">Stuck</h2>
          {maySweep && (
            <button type="button" onClick={() => void sweep()}>
              Sweep now
            </button>
          )}
        </div>
        <p className="quiet">
          Running, but with a lapsed lease: nobody is at work on them any more. Those with recovery hold are
          held by the next sweep, every minute; the others go on with the next claim of their key.
        </p>
        <div role="status">
          {swept?.ok && (
            <p className="note good">
              Swept: {swept.value.held} held, {swept.value.released} released, {swept.value.purged} forgotten.
            </p>
          )}
        </div>
        {swept && !swept.ok && <ProblemNote problem={swept.problem} />}
        {stuck?.length === 0 && <p className="empty">Nothing is stuck.</p>}
        {stuck && stuck.length > 0 && (
          <ReceiptRows
            receipts={stuck}
            nowMs={nowMs}
            tell={({ until, recovery }) => `${recovery}, lapsed ${span(nowMs - (until ?? nowMs))} ago`}
          />
        )}
      </section>
      <section className="card" aria-labelledby="swept">
        <h2 id="swept">Swept, taken over, too late</h2>
        <p className="quiet">Leases that lapsed, and workers that came back after theirs was gone.</p>
        <Events
          decisions={of(SWEPT)}
          nowMs={nowMs}
          empty="None among the decisions that this server remembers."
        />
      </section>
      <section className="card" aria-labelledby="conflicts">
        <h2 id="conflicts">
          Conflicts{' '}
          {conflicts !== undefined && <span className="quiet">{number(conflicts)} in the last day</span>}
        </h2>
        <p className="quiet">
          A key that came again with another payload. It was refused and nothing ran. Either a caller uses one
          key for two things, or a field that changes with every try is part of the payload: leave it out with{' '}
          <code>identity</code>.
        </p>
        <Events
          decisions={of(['conflict'])}
          nowMs={nowMs}
          empty="None among the decisions that this server remembers."
        />
        <p className="quiet">
          Payloads are not stored, only their fingerprints, so the fields that differ cannot be shown here;{' '}
          <code>ibid scan</code> finds them in recorded calls. A server remembers about its last thousand
          decisions; the log of the store has them all.
        </p>
      </section>
    </>
  )
}

function Events({
  decisions,
  nowMs,
  empty,
}: {
  readonly decisions: readonly Decision[]
  readonly nowMs: number
  readonly empty: string
}) {
  if (decisions.length === 0) return <p className="empty">{empty}</p>
  return (
    <ul className="rows">
      {decisions.slice(0, 100).map(({ serial, event }) => (
        <li key={serial}>
          <span className={`badge ${event.event}`}>
            {EVENT_WORDS[event.event]}
            {event.count > 1 && ` × ${number(event.count)}`}
          </span>
          <a className="where" href={linkToReceipt(event)}>
            <b>{event.key}</b>
            <span>
              {event.scope} · {event.tenant}
            </span>
          </a>
          <span className="quiet when">
            {event.event === 'conflict' && (
              <>
                {event.why ?? 'other than'} <code>{event.fingerprint.slice(0, 16)}…</code>
                <br />
              </>
            )}
            {event.event !== 'conflict' && event.why !== undefined && (
              <>
                {event.why}
                <br />
              </>
            )}
            {ago(event.at, nowMs)}
          </span>
        </li>
      ))}
    </ul>
  )
}

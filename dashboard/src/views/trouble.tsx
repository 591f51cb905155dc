/**
 * What may need somebody: attempts that nobody is at work on any more, what was swept, and keys used for
 * something else.
 */
import { useState } from 'react'
import { pathTo, type Said } from '../api.js'
import type { Sight } from '../frame.js'
import { Difference } from '../parts/difference.js'
import { ProblemNote } from '../parts/problem-note.js'
import { ReceiptRows } from '../parts/receipt-rows.js'
import { linkToReceipt } from '../place.js'
import type { AuditEvent, AuditName, Log, Page, Stats, Swept } from '../shapes.js'
import type { Decision } from '../use-decisions.js'
import { useLoaded } from '../use-loaded.js'
import { ago, number, span, wordFor } from '../wording.js'

const SWEPT: readonly AuditName[] = ['swept', 'takeover', 'stale']
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export function TroubleView({ api, me, tenant, decisions }: Sight) {
  const pending = pathTo('/v1/receipts', { tenant, state: 'pending', limit: '500' })
  const { value, problem, reload } = useLoaded<Page>(api, pending, 10_000)
  const [swept, setSwept] = useState<Said<Swept>>()
  const stats = useLoaded<Stats>(api, pathTo('/v1/stats', { tenant }), 10_000).value
  const conflicts = stats && Object.values(stats.totals).reduce((all, layer) => all + layer.conflicts, 0)
  const nowMs = api.now()
  const stuck = value?.receipts.filter(({ until }) => until !== null && until < nowMs)
  const live = (names: readonly AuditName[]): readonly Decision[] =>
    decisions.latest.filter(({ event }) => names.includes(event.event))
  const past = useLog(api, tenant, [...SWEPT, 'conflict'], live([...SWEPT, 'conflict'])[0]?.serial)
  const of = (names: readonly AuditName[]): readonly AuditEvent[] | undefined =>
    past.value?.events.filter(({ event }) => names.includes(event))
  const maySweep = me.tenant === '*' && me.rights.includes('admin')

  async function sweep(): Promise<void> {
    setSwept(await api.post<Swept>('/v1/sweep', {}))
    reload()
  }

  return (
    <>
      <h1>Trouble</h1>
      {problem && <ProblemNote problem={problem} />}
      {past.problem && <ProblemNote problem={past.problem} />}
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
        <Events events={of(SWEPT)} nowMs={nowMs} />
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
        <Events events={of(['conflict'])} nowMs={nowMs} />
        <p className="quiet">
          Payloads are not stored, only their fingerprints. A server keeps the last few thousand of them in
          memory: where it still had the first one, the fields or parts that differed are named here, never
          what was in them. <code>ibid scan</code> finds them in recorded calls.
        </p>
      </section>
    </>
  )
}

/** Of the last day, newest first, from the log of the store: whichever server decided, and before its start too. */
function useLog(
  api: Sight['api'],
  tenant: string,
  names: readonly AuditName[],
  version: number | undefined,
): ReturnType<typeof useLoaded<Log>> {
  const since = String(Math.floor((api.now() - DAY_MS) / HOUR_MS) * HOUR_MS)
  const query = { tenant, event: names.join(','), order: 'newest', since, limit: '1000' }
  return useLoaded<Log>(api, pathTo('/v1/log', query), 30_000, version ?? 0)
}

function Events({
  events,
  nowMs,
}: {
  readonly events: readonly AuditEvent[] | undefined
  readonly nowMs: number
}) {
  if (events === undefined) return <p className="empty">Looking…</p>
  if (events.length === 0) return <p className="empty">None among the latest decisions of the last day.</p>
  return (
    <ul className="rows">
      {events.slice(0, 100).map((event, at) => (
        <li key={`${event.at} ${event.scope} ${event.key} ${at}`}>
          <span className={`badge ${event.event}`}>
            {wordFor(event)}
            {event.count > 1 && ` × ${number(event.count)}`}
          </span>
          <a className="where" href={linkToReceipt(event)}>
            <b>{event.key}</b>
            <span>
              {event.scope} · {event.tenant}
            </span>
          </a>
          <div className="quiet when">
            {event.event === 'conflict' && <Difference event={event} />}
            {event.event !== 'conflict' && event.why !== undefined && <p>{event.why}</p>}
            <p>
              {event.by !== undefined && `${event.by}, `}
              {ago(event.at, nowMs)}
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Every decision about a key, oldest first, each with what it meant, who took it and why. */
import type { AuditEvent } from '../shapes.js'
import { dateTime, meaningOf, number, span, wordFor } from '../wording.js'
import { Difference } from './difference.js'
import { StateBadge } from './state-badge.js'

/** `scope`: the receipt that is looked at; what other layers decided says which. */
export function Story({ events, scope }: { readonly events: readonly AuditEvent[]; readonly scope: string }) {
  return (
    <section className="card" aria-labelledby="story">
      <h2 id="story">The whole story</h2>
      {events.length === 0 && <p className="empty">Nothing is on record about this key.</p>}
      <ol className="timeline">
        {events.map((event, at) => (
          <li key={`${event.at} ${event.scope} ${event.event} ${at}`} className={event.event}>
            <p>
              <b>
                {wordFor(event)}
                {event.count > 1 && ` × ${number(event.count)}`}
              </b>{' '}
              {event.state && <StateBadge state={event.state} />}{' '}
              {event.scope !== scope && <span className="layer">{event.scope}</span>}
            </p>
            <p>{meaningOf(event)}</p>
            {event.event === 'conflict' && <Difference event={event} />}
            {(event.by !== undefined || event.why !== undefined) && (
              <p className="said">
                {event.why !== undefined && event.event !== 'conflict' && <q>{event.why}</q>}
                {event.by !== undefined && <span> by {event.by}</span>}
              </p>
            )}
            <p className="quiet">
              <time dateTime={new Date(event.at).toISOString()}>{dateTime(event.at)}</time>
              {sinceLast(events[at - 1], event)}
              {event.attempt > 1 && `, attempt ${event.attempt}`}
            </p>
          </li>
        ))}
      </ol>
      <p className="quiet">
        What changes the receipt is on record with the change. Duplicates change nothing: they are counted,
        and recorded within a second or so.
      </p>
    </section>
  )
}

function sinceLast(before: AuditEvent | undefined, event: AuditEvent): string {
  return before === undefined ? '' : `, ${span(event.at - before.at)} later`
}

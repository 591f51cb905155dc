/** Decisions as they come in, newest first. It is not read out by itself: it would never stop. */
import { linkToReceipt } from '../place.js'
import type { Decision } from '../use-decisions.js'
import { clockTime, layerOf, meaningOf, number, wordFor } from '../wording.js'

export function Feed({
  title,
  about,
  decisions,
  empty,
}: {
  readonly title: string
  readonly about: string
  readonly decisions: readonly Decision[]
  readonly empty: string
}) {
  return (
    <section className="card feed" aria-label={title}>
      <h3>{title}</h3>
      <p className="quiet">{about}</p>
      {decisions.length === 0 ? (
        <p className="empty">{empty}</p>
      ) : (
        <ol>
          {decisions.slice(0, MOST_SHOWN).map(({ serial, event }) => (
            <li key={serial} className={event.event} title={meaningOf(event)}>
              <time dateTime={new Date(event.at).toISOString()}>{clockTime(event.at)}</time>
              <span className="layer">{layerOf(event.scope)}</span>
              <span className="word">
                {wordFor(event)}
                {event.count > 1 && ` × ${number(event.count)}`}
              </span>
              <a href={linkToReceipt(event)} title={`${event.scope} · ${event.tenant}`}>
                {event.key}
              </a>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

const MOST_SHOWN = 40

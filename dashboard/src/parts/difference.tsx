/** What is known of a conflict: both fingerprints, and what differed where the server still knew the first payload. */
import type { AuditEvent } from '../shapes.js'
import { conflictOf } from '../wording.js'

const SHOWN = 14

export function Difference({ event }: { readonly event: AuditEvent }) {
  const { cameAs, differs } = conflictOf(event)
  return (
    <p className="difference">
      {differs === undefined ? <span className="quiet">what differed is not known</span> : <b>{differs}</b>}
      <br />
      <span className="quiet">
        first <Print text={event.fingerprint} />
        {cameAs !== undefined && (
          <>
            , came as <Print text={cameAs} />
          </>
        )}
      </span>
    </p>
  )
}

function Print({ text }: { readonly text: string }) {
  return <code title={text}>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</code>
}

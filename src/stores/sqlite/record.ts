/** record: decisions that changed nothing. What their receipt says is left out, what it does not say is kept. */
import { type AuditEvent, writable } from '../../core/audit.js'
import { EVENT, STATE } from './codes.js'
import type { Connection } from './connection.js'
import { row } from './open.js'

export function record({ sql, catalogue }: Connection, event: AuditEvent, now: number): void {
  const { tenant, scope, key, fingerprint } = event
  let receipt: number | null = null
  let known: unknown
  for (const id of catalogue.candidates(event)) {
    known = row(sql.fingerprint, id, key, scope, tenant)?.[0]
    if (known === undefined) continue
    receipt = id
    break
  }
  sql.record.get(
    receipt,
    now,
    EVENT[event.event],
    event.state === null ? null : STATE[event.state],
    event.epoch,
    event.attempt,
    event.count,
    writable(event.by),
    writable(event.why),
    known === fingerprint ? null : fingerprint,
    receipt === null ? tenant : null,
    receipt === null ? scope : null,
    receipt === null ? key : null,
  )
}

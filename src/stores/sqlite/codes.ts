/** Names as the file keeps them: small numbers that never change their meaning, whatever the order in the core. */
import type { AuditName } from '../../core/audit.js'
import type { Recovery, State } from '../../core/receipt.js'

export const STATE = {
  pending: 0,
  released: 1,
  succeeded: 2,
  failed: 3,
  unknown: 4,
} as const satisfies Record<State, number>

export const RECOVERY = { hold: 0, retry: 1, check: 2, atomic: 3 } as const satisfies Record<Recovery, number>

export const EVENT = {
  claimed: 0,
  dedup_hit: 1,
  in_flight: 2,
  conflict: 3,
  takeover: 4,
  renewed: 5,
  settled: 6,
  released: 7,
  held: 8,
  resolved: 9,
  swept: 10,
  expired: 11,
  stale: 12,
} as const satisfies Record<AuditName, number>

export const STATE_NAMES = namesOf<State>(STATE)
export const RECOVERY_NAMES = namesOf<Recovery>(RECOVERY)
export const EVENT_NAMES = namesOf<AuditName>(EVENT)

function namesOf<Name extends string>(codes: Readonly<Record<Name, number>>): readonly Name[] {
  const names: Name[] = []
  for (const name of Object.keys(codes) as Name[]) names[codes[name]] = name
  return names
}

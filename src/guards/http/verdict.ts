/**
 * What a response says about the effect behind it. `final`: it is the result, and every duplicate gets it again.
 * `release`: nothing was done, and the same key may run again. `unknown`: it may have been done; the recovery policy
 * decides, as it does for a crash.
 */
import { invalidIntent } from '../../core/errors.js'

export type Verdict = 'final' | 'release' | 'unknown'
export type StatusClass = '2xx' | '3xx' | '4xx' | '5xx'
/** By class or by status; a status counts before its class. */
export type Verdicts = Readonly<Partial<Record<StatusClass | number, Verdict>>>

/**
 * A handler that answers 4xx has refused. Of these, the ones that a later try can change give the key back:
 * sign in first, sent too slowly, in conflict right now, locked, too early, too many.
 */
export const DEFAULT_VERDICTS: Verdicts = {
  '2xx': 'final',
  '3xx': 'final',
  '4xx': 'final',
  401: 'release',
  408: 'release',
  409: 'release',
  423: 'release',
  425: 'release',
  429: 'release',
  '5xx': 'unknown',
}

const KNOWN: readonly unknown[] = ['final', 'release', 'unknown']

export function readVerdicts(given: Verdicts = {}): (status: number) => Verdict {
  for (const [status, verdict] of Object.entries(given)) {
    if (/^([2-5]xx|[2-5]\d\d)$/.test(status) && KNOWN.includes(verdict)) continue
    throw invalidIntent(
      `verdicts has ${JSON.stringify(status)}: ${JSON.stringify(verdict)}`,
      "name a class ('4xx') or a status (404), and 'final', 'release' or 'unknown' for it",
    )
  }
  const all: Verdicts = { ...DEFAULT_VERDICTS, ...given }
  const byStatus = new Map<number, Verdict>()
  for (let status = 200; status < 600; status++) {
    // A class that was given counts before a status that was not.
    const ofClass = `${Math.floor(status / 100)}xx` as StatusClass
    const own = given[status] ?? (given[ofClass] === undefined ? all[status] : undefined)
    byStatus.set(status, own ?? (all[ofClass] as Verdict))
  }
  return (status) => byStatus.get(status) ?? 'unknown'
}

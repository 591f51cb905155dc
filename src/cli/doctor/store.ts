/** The store: its own check, its clock against this machine's, and what nobody has come by to do. */
import type { Store, StoreFinding } from '../../store.js'
import { findHeld } from '../held.js'
import { asked, clockOf } from '../pages.js'
import { count, duration } from '../times.js'
import type { Diagnosis } from './diagnosis.js'

export async function checkStore(store: Store): Promise<Diagnosis> {
  const { store: name, findings, facts } = await asked(store.check())
  return { area: 'store', facts: { kind: name, ...facts }, findings }
}

const MOST_SKEW_MS = 1_000
/** Stores whose clock is the clock of whoever asks. */
const WITHOUT_CLOCK = new Set(['sqlite', 'memory', 'dynamodb'])

export async function checkClock(store: Store): Promise<Diagnosis> {
  // Connections are opened by the first call; the second one tells the time.
  await clockOf(store)
  const { skewMs, offMs } = await clockOf(store)
  const own = WITHOUT_CLOCK.has(store.name)
  const facts = {
    'whose clock': own ? "this machine's" : "the store's",
    'this machine is off by': own ? '0 ms' : `${Math.round(-skewMs)} ms (± ${Math.ceil(offMs)} ms)`,
  }
  const apart = Math.abs(skewMs) - offMs > MOST_SKEW_MS
  const findings: StoreFinding[] = apart
    ? [
        {
          level: 'warning',
          code: 'CLOCK_SKEW',
          message: `this machine is ${duration(skewMs)} ${skewMs > 0 ? 'behind' : 'ahead of'} the store. Leases and windows go by the store and hold; webhook tolerances and cron ticks go by this machine`,
          remedy: 'let a time service (chrony, systemd-timesyncd) set the clock of this machine',
        },
      ]
    : []
  return { area: 'clock', facts, findings }
}

const LATE_MS = 5 * 60_000
const PAGE = 1_000

/** Each minute some process should have come by. Where none has for minutes, none does. */
export async function checkUndone(store: Store): Promise<Diagnosis> {
  const held = await findHeld(store)
  const lapsed = await asked(store.scan({ states: ['pending'], ended: true, limit: PAGE }))
  const ended = await asked(
    store.scan({ states: ['succeeded', 'failed', 'released'], ended: true, limit: PAGE }),
  )
  const isLate = ({ until }: { readonly until: number | null }): boolean =>
    until !== null && ended.now - until > LATE_MS
  const unswept = lapsed.receipts.filter(isLate).length
  const unpurged = ended.receipts.filter(isLate).length
  const findings: StoreFinding[] = []
  if (held.length > 0) {
    const oldest = duration(ended.now - (held[0]?.at ?? ended.now))
    findings.push({
      level: 'warning',
      code: 'HELD',
      message: `${count(held.length)} receipts wait for a person, the oldest for ${oldest}`,
      remedy: 'ibid held lists them, ibid resolve ends them',
    })
  }
  if (unswept + unpurged > 0) {
    findings.push({
      level: 'warning',
      code: 'NOT_SWEPT',
      message: `${atLeast(unswept)} lapsed and ${atLeast(unpurged)} ended receipts have been left lying for minutes: nobody keeps house`,
      remedy: 'let one process run with housekeeping (the default), or run ibid sweep every minute',
    })
  }
  return {
    area: 'work left',
    facts: { held: held.length, lapsed: lapsed.receipts.length, ended: ended.receipts.length },
    findings,
  }
}

function atLeast(found: number): string {
  return found === PAGE ? `${count(found)} or more` : count(found)
}

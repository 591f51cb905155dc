/**
 * A cron expression in a time zone, as instants. croner computes them: over a change of clocks a job at a fixed time of
 * day is due once, at the first valid moment after a missing hour and in the first of two equal hours; a job at
 * intervals is due at every interval that really passes. It is an optional peer, loaded with the first tick.
 */
import type { Cron } from 'croner'
import { IbidError, invalidIntent } from '../../core/errors.js'

export interface Schedule {
  /** The first instant after `ms`; undefined: never again. */
  next(ms: number): number | undefined
}

export async function createSchedule(cron: string, timeZone: string): Promise<Schedule> {
  if (typeof cron !== 'string' || typeof timeZone !== 'string') {
    throw invalidIntent(
      'a tick needs a cron expression and a time zone',
      "give { name, cron: '30 2 * * *', timeZone: 'Europe/Berlin' }; 'UTC' is a time zone too",
    )
  }
  if (timeZone === '') {
    throw invalidIntent(
      'timeZone is empty, which would be whatever zone each worker is in; nothing was scheduled',
      "give timeZone an IANA time zone such as 'Europe/Berlin'; 'UTC' is one too",
    )
  }
  const { Cron } = await load()
  const id = `${timeZone} ${cron}`
  const known = schedules.get(id)
  if (known) return known
  const pattern = parse(() => new Cron(cron, { timezone: timeZone, paused: true }), cron, timeZone)
  const schedule = remembering((ms) => pattern.nextRun(new Date(ms))?.getTime())
  if (schedules.size >= MOST_SCHEDULES) schedules.clear()
  schedules.set(id, schedule)
  return schedule
}

/** A tick per tenant is many tickers on one schedule: they share it, and what it has worked out lately. */
const schedules = new Map<string, Schedule>()
const MOST_SCHEDULES = 100
const MOST_REMEMBERED = 64

/** Time zones make an instant dear, and the same few are asked for again and again. */
function remembering(next: Schedule['next']): Schedule {
  const gaps: { readonly afterMs: number; readonly nextMs: number }[] = []
  return {
    next(ms) {
      const gap = gaps.findLast(({ afterMs, nextMs }) => afterMs <= ms && ms < nextMs)
      if (gap) return gap.nextMs
      const nextMs = next(ms)
      if (nextMs !== undefined) gaps.push({ afterMs: ms, nextMs })
      if (gaps.length > MOST_REMEMBERED) gaps.shift()
      return nextMs
    },
  }
}

async function load(): Promise<typeof import('croner')> {
  try {
    return await import('croner')
  } catch (error) {
    throw new IbidError('runs.tick needs the package croner, which is not installed; nothing was scheduled', {
      code: 'MISSING_PEER',
      retriable: false,
      action: 'npm install croner',
      cause: error,
    })
  }
}

function parse(make: () => Cron, cron: string, timeZone: string): Cron {
  try {
    const pattern = make()
    // A time zone that does not exist shows only when an instant is asked for.
    pattern.nextRun()
    return pattern
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw invalidIntent(
      `${JSON.stringify(cron)} in ${JSON.stringify(timeZone)} is not a schedule: ${why}`,
      "give a cron expression such as '30 2 * * *' and an IANA time zone such as 'Europe/Berlin'",
    )
  }
}

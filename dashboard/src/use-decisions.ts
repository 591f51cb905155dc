/**
 * The last decisions, newest first. They are shown a few times a second however many come: people read no
 * faster.
 */
import { useEffect, useState } from 'react'
import type { Api } from './api.js'
import { followDecisions, type StreamState } from './event-stream.js'
import type { Address, AuditEvent, AuditName } from './shapes.js'

export interface Decision {
  /** Counted in this tab. */
  readonly serial: number
  readonly event: AuditEvent
}

export interface Decisions {
  readonly state: StreamState
  readonly latest: readonly Decision[]
}

const MOST = 1_000
/** Rare, and looked for: they are kept when a storm of others comes. */
export const NOTABLE: readonly AuditName[] = ['conflict', 'held', 'swept', 'takeover', 'stale', 'resolved']
const MOST_NOTABLE = 500
const EVERY_MS = 250

export function useDecisions(api: Api, tenant: string): Decisions {
  const [decisions, show] = useState<Decisions>({ state: 'connecting', latest: [] })

  useEffect(() => {
    let waiting: Decision[] = []
    let serial = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    function flush(): void {
      timer = undefined
      const fresh = waiting.toReversed()
      waiting = []
      show(({ state, latest }) => ({ state, latest: trimmed([...fresh, ...latest]) }))
    }
    const stop = followDecisions(api, tenant, {
      event(event) {
        waiting.push({ serial: ++serial, event })
        timer ??= setTimeout(flush, EVERY_MS)
      },
      state: (state) => show(({ latest }) => ({ state, latest })),
    })
    return () => {
      stop()
      clearTimeout(timer)
      show({ state: 'connecting', latest: [] })
    }
  }, [api, tenant])

  return decisions
}

function trimmed(all: readonly Decision[]): readonly Decision[] {
  let notable = 0
  return all.filter(
    ({ event }, at) => at < MOST || (NOTABLE.includes(event.event) && ++notable <= MOST_NOTABLE),
  )
}

/** Changes whenever something was decided about this key, in whatever layer. */
export function lastAbout({ latest }: Decisions, { tenant, key }: Omit<Address, 'scope'>): number {
  return latest.find(({ event }) => event.key === key && event.tenant === tenant)?.serial ?? 0
}

/** Changes whenever a receipt came to be held, or is no longer. */
export function lastHeld({ latest }: Decisions): number {
  return latest.find(({ event }) => ['held', 'swept', 'resolved'].includes(event.event))?.serial ?? 0
}

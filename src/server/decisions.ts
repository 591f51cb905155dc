/**
 * The decisions of this process as they are taken: counted by layer for metrics, by tenant over time for the
 * page, and handed to whoever listens. The server's own receipts are nobody's business and are left out.
 */
import type { AuditEvent, AuditName } from '../core/audit.js'
import { OWN_TENANT } from './api-keys.js'
import { createSeries, type Series, type Step } from './series.js'

export interface Decisions {
  /** The sink for `createIbid({ audit })`. */
  readonly sink: (events: readonly AuditEvent[]) => void
  listen(listener: (id: number, event: AuditEvent) => void): () => void
  /** What was decided after the event with this id, as far as it is remembered. */
  since(id: number): readonly (readonly [number, AuditEvent])[]
  /** By `event layer`, since the start. */
  readonly totals: ReadonlyMap<string, number>
  /** Undefined: of all tenants together. */
  overTime(tenant: string | undefined): { readonly recent: readonly Step[]; readonly day: readonly Step[] }
}

interface OverTime {
  readonly recent: Series
  readonly day: Series
}

export const RECENT_STEP_MS = 10_000
export const DAY_STEP_MS = 300_000
const REMEMBERED = 1_000
/** More than that are counted in the whole only. */
const MOST_TENANTS = 1_000

/** They come with the time of the receipt that they met, until the store has written them down with their own. */
const UNCHANGED: readonly AuditName[] = ['dedup_hit', 'in_flight', 'conflict', 'stale']

const MOST_LAYERS = 64
const layers = new Set<string>()

/**
 * `tool:issue_refund` → `tool`; a scope without one is `direct`. Clients choose scopes, so there is an end to
 * the names.
 */
function layerOf(scope: string): string {
  const colon = scope.indexOf(':')
  const layer = colon <= 0 ? 'direct' : scope.slice(0, colon)
  if (layers.size < MOST_LAYERS) layers.add(layer)
  return layers.has(layer) ? layer : 'other'
}

export function createDecisions(): Decisions {
  const totals = new Map<string, number>()
  const listeners = new Set<(id: number, event: AuditEvent) => void>()
  const all = series()
  const tenants = new Map<string, OverTime>()
  let remembered: (readonly [number, AuditEvent])[] = []
  let lastId = 0

  function count(event: AuditEvent): void {
    const name = `${event.event} ${layerOf(event.scope)}`
    totals.set(name, (totals.get(name) ?? 0) + event.count)
    let own = tenants.get(event.tenant)
    if (!own && tenants.size < MOST_TENANTS) tenants.set(event.tenant, (own = series()))
    for (const { recent, day } of own ? [all, own] : [all]) {
      recent.add(name, event.count)
      day.add(name, event.count)
    }
  }

  return {
    totals,
    sink(events) {
      for (const decided of events) {
        if (decided.tenant === OWN_TENANT) continue
        const event = UNCHANGED.includes(decided.event) ? { ...decided, at: Date.now() } : decided
        count(event)
        const id = ++lastId
        remembered.push([id, event])
        for (const listener of listeners) listener(id, event)
      }
      if (remembered.length > 2 * REMEMBERED) remembered = remembered.slice(-REMEMBERED)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    since: (id) => remembered.filter(([one]) => one > id),
    overTime(tenant) {
      const own = tenant === undefined ? all : tenants.get(tenant)
      return { recent: own?.recent.steps() ?? [], day: own?.day.steps() ?? [] }
    },
  }
}

function series(): OverTime {
  return { recent: createSeries(RECENT_STEP_MS, 360), day: createSeries(DAY_STEP_MS, 288) }
}

const ORIGINALS: readonly AuditName[] = ['claimed', 'takeover']

/** Originals and duplicates apart, by layer: what the counts of decisions say. */
export function byLayer(counts: Readonly<Record<string, number>>): Readonly<Record<string, LayerCounts>> {
  const found: Record<string, { -readonly [K in keyof LayerCounts]: number }> = Object.create(null) as never
  for (const [name, count] of Object.entries(counts)) {
    const at = name.indexOf(' ')
    const event = name.slice(0, at) as AuditName
    const layer = (found[name.slice(at + 1)] ??= {
      originals: 0,
      duplicates: 0,
      inFlight: 0,
      conflicts: 0,
      held: 0,
    })
    if (ORIGINALS.includes(event)) layer.originals += count
    else if (event === 'dedup_hit') layer.duplicates += count
    else if (event === 'in_flight') layer.inFlight += count
    else if (event === 'conflict') layer.conflicts += count
    else if (event === 'held' || event === 'swept') layer.held += count
  }
  return found
}

export interface LayerCounts {
  readonly originals: number
  /** Answered with the first result: writes that were prevented. */
  readonly duplicates: number
  readonly inFlight: number
  readonly conflicts: number
  readonly held: number
}

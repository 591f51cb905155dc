/**
 * Bursts of duplicates: ten seconds with many times the usual number. The log does not record restarts; what it does
 * record is what a dead worker leaves behind (takeovers, sweeps, late finishes), and a burst beside those is told as
 * such.
 */
import type { AuditEvent } from '../../core/audit.js'
import type { Detector, ScanFinding } from './finding.js'

const BIN_MS = 10_000
const NEAR_MS = 60_000
const LEAST = 20
const TIMES = 5
const AT_RESTART = ', around a restart: attempts were taken over or swept then'
const TRACES = new Set(['takeover', 'swept', 'stale'])

export function bursts(): Detector {
  const bins = new Map<number, Map<string, number>>()
  const traces = new Set<number>()
  let first = Infinity
  let last = -Infinity

  function duplicates(event: AuditEvent): void {
    const bin = Math.floor(event.at / BIN_MS)
    const scopes = bins.get(bin) ?? new Map<string, number>()
    const id = JSON.stringify([event.tenant, event.scope])
    scopes.set(id, (scopes.get(id) ?? 0) + event.count)
    bins.set(bin, scopes)
  }

  return {
    see(event) {
      first = Math.min(first, event.at)
      last = Math.max(last, event.at)
      if (event.event === 'dedup_hit' || event.event === 'in_flight') duplicates(event)
      else if (TRACES.has(event.event)) traces.add(Math.floor(event.at / BIN_MS))
    },
    findings() {
      const totals = Array.from(bins, ([bin, scopes]) => ({ bin, scopes, total: sum(scopes.values()) }))
      const all = sum(totals.map(({ total }) => total))
      const length = Math.max(1, Math.floor(last / BIN_MS) - Math.floor(first / BIN_MS) + 1)
      return totals
        .filter(
          ({ total }) => total >= LEAST && (length === 1 || total >= TIMES * ((all - total) / (length - 1))),
        )
        .sort((a, b) => a.bin - b.bin)
        .map(({ bin, scopes, total }) => burst(bin * BIN_MS, scopes, total, isNearTrace(bin, traces)))
    },
  }
}

function isNearTrace(bin: number, traces: ReadonlySet<number>): boolean {
  const reach = NEAR_MS / BIN_MS
  for (let at = bin - reach; at <= bin + reach; at++) if (traces.has(at)) return true
  return false
}

function burst(
  at: number,
  scopes: ReadonlyMap<string, number>,
  total: number,
  atRestart: boolean,
): ScanFinding {
  const [busiest] = [...scopes].sort((a, b) => b[1] - a[1])
  const [tenant, scope] = JSON.parse(busiest?.[0] ?? '["",""]') as [string, string]
  return {
    level: 'warning',
    code: 'duplicate-burst',
    tenant,
    scope,
    count: total,
    message: `${total} duplicates in ten seconds, most of them of ${scope}${atRestart ? AT_RESTART : ''}`,
    remedy: atRestart
      ? 'see that workers finish or release what they run before they stop, and that clients back off between retries'
      : 'see who retries at once: a client without back-off, or a queue that redelivers all it has',
    examples: [{ at, duplicates: total, restart: atRestart ? 'yes' : 'no' }],
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}

/** `/metrics` in the text format of Prometheus. No label holds a tenant, a scope or a key: those have no bound. */
import type { Decisions } from './decisions.js'
import { BOUNDS_MS, type Histogram } from './histogram.js'
import type { Meters } from './meters.js'

export interface Gauges {
  /** Receipts that wait for a person; counted up to a thousand. */
  readonly held: number
  readonly isReady: boolean
}

export function prometheus(
  { totals }: Pick<Decisions, 'totals'>,
  meters: Meters,
  { held, isReady }: Gauges,
): string {
  const { rss, heapUsed } = process.memoryUsage()
  return [
    ...counter(
      'ibid_decisions_total',
      'Decisions by event and layer; dedup_hit counts duplicate writes prevented',
      [...totals].map(([name, value]) => [pair(name, 'event', 'layer'), value]),
    ),
    ...counter(
      'ibid_http_requests_total',
      'Requests by route and status',
      [...meters.requests].map(([name, value]) => [routed(name), value]),
    ),
    ...counter(
      'ibid_store_errors_total',
      'Calls that the store did not answer',
      [...meters.storeErrors].map(([verb, value]) => [`verb="${verb}"`, value]),
    ),
    ...histograms('ibid_store_seconds', 'How long the store took to answer a batch', 'verb', meters.store),
    ...histograms(
      'ibid_http_seconds',
      'How long a request took; long polls take as long as they wait',
      'route',
      meters.durations,
    ),
    ...gauge('ibid_held_receipts', 'Receipts whose outcome is unknown; counted up to 1000', held),
    ...gauge('ibid_waiters', 'Requests that wait for a result', meters.waiters),
    ...gauge('ibid_streams', 'Event streams that are open', meters.streams),
    ...gauge('ibid_ready', '1 while this server takes requests and its store is fit', isReady ? 1 : 0),
    ...gauge('process_resident_memory_bytes', 'Memory of the process', rss),
    ...gauge('nodejs_heap_size_used_bytes', 'Heap in use', heapUsed),
    ...gauge('process_uptime_seconds', 'Since the start', process.uptime()),
    '',
  ].join('\n')
}

type Sample = readonly [labels: string, value: number]

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

function counter(name: string, help: string, samples: readonly (readonly [string, number])[]): string[] {
  return [
    ...head(name, help, 'counter'),
    ...samples.map(([labels, value]: Sample) => `${name}{${labels}} ${value}`),
  ]
}

function gauge(name: string, help: string, value: number): string[] {
  return [...head(name, help, 'gauge'), `${name} ${value}`]
}

function histograms(
  name: string,
  help: string,
  label: string,
  all: ReadonlyMap<string, Histogram>,
): string[] {
  const lines = head(name, help, 'histogram')
  for (const [of, histogram] of all) {
    const labels = `${label}="${escaped(of)}"`
    histogram.cumulative().forEach((count, at) => {
      const bound = BOUNDS_MS[at]
      lines.push(`${name}_bucket{${labels},le="${bound === undefined ? '+Inf' : bound / 1_000}"} ${count}`)
    })
    lines.push(
      `${name}_sum{${labels}} ${histogram.sumMs / 1_000}`,
      `${name}_count{${labels}} ${histogram.count}`,
    )
  }
  return lines
}

function pair(name: string, first: string, second: string): string {
  const at = name.indexOf(' ')
  return `${first}="${escaped(name.slice(0, at))}",${second}="${escaped(name.slice(at + 1))}"`
}

function routed(name: string): string {
  const at = name.lastIndexOf(' ')
  return `route="${escaped(name.slice(0, at))}",status="${name.slice(at + 1)}"`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

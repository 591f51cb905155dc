/**
 * OpenTelemetry, applied once for all stores and guards. Through its API package alone: without an SDK in the
 * program every call here does nothing.
 */
import { context, metrics, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { AuditName } from '../core/audit.js'

export interface Telemetry {
  /** One decision. Duplicates and originals are told apart by its name. */
  decided(event: AuditName, scope: string, count?: number): void
  /** How long the store took to answer a claim. */
  claimed(ms: number): void
  storeFailed(): void
  /** Runs an attempt in a span of its own. */
  inSpan<T>(scope: string, attempt: number, run: () => Promise<T>): Promise<T>
}

/** `tool:issue_refund` → `tool`: the layer is worth a label, the whole scope could be endless. */
function layerOf(scope: string): string {
  const colon = scope.indexOf(':')
  return colon === -1 ? scope : scope.slice(0, colon)
}

export function createTelemetry(store: string): Telemetry {
  const meter = metrics.getMeter('ibid')
  const tracer = trace.getTracer('ibid')
  const decisions = meter.createCounter('ibid.decisions', {
    description: 'Decisions by the name of their audit event; dedup_hit counts duplicates prevented',
  })
  const claims = meter.createHistogram('ibid.claim.duration', {
    unit: 'ms',
    description: 'Time from asking for a claim to the answer of the store',
  })
  const failures = meter.createCounter('ibid.store.errors', {
    description: 'Calls that the store did not answer',
  })
  const ofStore = { store }
  return {
    decided(event, scope, count = 1) {
      decisions.add(count, { event, layer: layerOf(scope), store })
    },
    claimed(ms) {
      claims.record(ms, ofStore)
    },
    storeFailed() {
      failures.add(1, ofStore)
    },
    inSpan(scope, attempt, run) {
      const attributes = { 'ibid.scope': scope, 'ibid.attempt': attempt, 'ibid.store': store }
      const span = tracer.startSpan('ibid.attempt', { attributes })
      // Nobody listens, or this one was not sampled: an attempt does not pay for a context then.
      if (!span.isRecording()) return run()
      return context.with(trace.setSpan(context.active(), span), () => endWith(span, run))
    },
  }
}

async function endWith<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

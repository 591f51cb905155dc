/**
 * OpenTelemetry, applied once for all stores and guards. Through its API package alone: without an SDK in the
 * program every call here does nothing. An SDK that throws costs nobody an answer: what it was to be told is lost.
 */
import {
  type Attributes,
  context,
  createNoopMeter,
  type Meter,
  metrics,
  ProxyTracerProvider,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { AuditName } from '../core/audit.js'
import { quietly } from '../core/quietly.js'

export interface Telemetry {
  /** One decision. Duplicates and originals are told apart by its name. */
  decided(event: AuditName, scope: string, count?: number): void
  /** How long the store took to answer a claim. */
  claimed(ms: number): void
  storeFailed(): void
  /** A span for an attempt; undefined where nobody listens, so that an attempt does not pay for it. */
  startSpan(scope: string, attempt: number): AttemptSpan | undefined
}

export interface AttemptSpan {
  /** Runs the effect inside it. */
  run<T>(effect: () => T): T
  failed(): void
  end(): void
}

/** `tool:issue_refund` → `tool`: the layer is worth a label, the whole scope could be endless. */
function layerOf(scope: string): string {
  const colon = scope.indexOf(':')
  return colon === -1 ? scope : scope.slice(0, colon)
}

/** The labels of a decision, made once for a run of decisions in one layer. */
function labels(store: string): (event: AuditName, scope: string) => Attributes {
  let lastLayer: string | undefined
  let byEvent = new Map<AuditName, Attributes>()
  return (event, scope) => {
    const layer = layerOf(scope)
    if (layer !== lastLayer) {
      lastLayer = layer
      byEvent = new Map()
    }
    let made = byEvent.get(event)
    if (made === undefined) byEvent.set(event, (made = { event, layer, store }))
    return made
  }
}

export function createTelemetry(store: string): Telemetry {
  const meter = orNone(meterOf)
  const tracer = orNone(() => trace.getTracer('ibid'))
  const decisions = orNone(() =>
    meter?.createCounter('ibid.decisions', {
      description: 'Decisions by the name of their audit event; dedup_hit counts duplicates prevented',
    }),
  )
  const claims = orNone(() =>
    meter?.createHistogram('ibid.claim.duration', {
      unit: 'ms',
      description: 'Time from asking for a claim to the answer of the store',
    }),
  )
  const failures = orNone(() =>
    meter?.createCounter('ibid.store.errors', {
      description: 'Calls that the store did not answer',
    }),
  )
  const ofStore = { store }
  const labelled = labels(store)
  return {
    decided(event, scope, count = 1) {
      try {
        decisions?.add(count, labelled(event, scope))
      } catch {
        // Theirs.
      }
    },
    claimed(ms) {
      try {
        claims?.record(ms, ofStore)
      } catch {
        // Theirs.
      }
    },
    storeFailed() {
      try {
        failures?.add(1, ofStore)
      } catch {
        // Theirs.
      }
    },
    startSpan(scope, attempt) {
      try {
        if (tracer === undefined || !isTraced()) return undefined
        const attributes = { 'ibid.scope': scope, 'ibid.attempt': attempt, 'ibid.store': store }
        return spanOf(tracer.startSpan('ibid.attempt', { attributes }))
      } catch {
        return undefined
      }
    },
  }
}

/** Undefined where nobody counts: a decision does not pay for its labels then. */
function meterOf(): Meter | undefined {
  const meter = metrics.getMeter('ibid')
  return meter === createNoopMeter() ? undefined : meter
}

/** What an SDK cannot make, nobody is told of. */
function orNone<T>(make: () => T | undefined): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** Undefined: this one was not sampled. */
function spanOf(span: Span): AttemptSpan | undefined {
  if (!span.isRecording()) return undefined
  return {
    run: (effect) => once(effect, (work) => context.with(trace.setSpan(context.active(), span), work)),
    failed: () => quietly(() => span.setStatus({ code: SpanStatusCode.ERROR })),
    end: () => quietly(() => span.end()),
  }
}

/** Runs `effect` within `around`, and by itself where that did not: once, whatever `around` does. */
function once<T>(effect: () => T, around: (work: () => void) => void): T {
  let ended: (() => T) | undefined
  const work = (): void => {
    if (ended) return
    try {
      const result = effect()
      ended = () => result
    } catch (error) {
      ended = () => {
        throw error
      }
    }
  }
  try {
    around(work)
  } catch {
    // Theirs: what the effect throws does not come this way.
  }
  work()
  return (ended as unknown as () => T)()
}

/** Has the program registered an SDK? It may do so at any time. */
function isTraced(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('ibid') !== undefined
}

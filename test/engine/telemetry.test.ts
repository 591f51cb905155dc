/** Counters and spans arrive wherever a provider is registered, through the API package alone. */
import { context, metrics, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { Rejected } from '../../src/index.js'
import { bench, failure, INTENT, turn } from './bench.js'

interface Span {
  readonly name: string
  readonly attributes: unknown
  status?: unknown
  ended: boolean
}

function listen() {
  const added: { name: string; value: number; labels: Record<string, unknown> }[] = []
  const spans: Span[] = []
  const instrument = (name: string) => ({
    add: (value: number, labels: Record<string, unknown>) => added.push({ name, value, labels }),
    record: (value: number, labels: Record<string, unknown>) => added.push({ name, value, labels }),
  })
  metrics.setGlobalMeterProvider({
    getMeter: () => ({ createCounter: instrument, createHistogram: instrument }),
  } as never)
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan(name: string, options: { attributes: unknown }) {
        const span: Span = { name, attributes: options.attributes, ended: false }
        spans.push(span)
        return {
          isRecording: () => true,
          setStatus: (status: unknown) => (span.status = status),
          end: () => (span.ended = true),
        }
      },
    }),
  } as never)
  const count = (event: string): number =>
    added.filter(({ labels }) => labels['event'] === event).reduce((sum, { value }) => sum + value, 0)
  return { added, spans, count }
}

function broken(): never {
  throw new TypeError('the exporter is full')
}

afterEach(() => {
  metrics.disable()
  trace.disable()
})

test('[R50] originals and duplicates are counted apart, by layer and store', async () => {
  const { added, count } = listen()
  const on = bench()
  const ibid = on.open()
  await ibid.once(INTENT, () => 1)
  for (let i = 0; i < 7; i++) await ibid.once(INTENT, () => 1)
  await failure(ibid.once({ ...INTENT, payload: 'other' }, () => 1))
  await on.time.pass(1_000)
  expect([count('claimed'), count('settled'), count('dedup_hit'), count('conflict')]).toEqual([1, 1, 7, 1])
  expect(added.find(({ name }) => name === 'ibid.decisions')?.labels).toEqual({
    event: 'claimed',
    layer: 'tool',
    store: 'memory',
  })
  // The original and the first duplicate asked the store.
  expect(added.filter(({ name }) => name === 'ibid.claim.duration')).toHaveLength(2)
})

test('[R50] each decision is counted under its own layer, whichever came before it', async () => {
  const { added } = listen()
  const ibid = bench().open()
  for (const scope of ['tool:a', 'tool:b', 'http', 'tool:a'])
    await ibid.once({ ...INTENT, scope, key: `after ${added.length}` }, () => 1)
  const claims = added.filter(({ labels }) => labels['event'] === 'claimed')
  expect(claims.map(({ labels }) => labels['layer'])).toEqual(['tool', 'tool', 'http', 'tool'])
})

test('[R50] an attempt has a span of its own, which ends with it and tells of its failure', async () => {
  const { spans } = listen()
  const ibid = bench().open()
  await ibid.once(INTENT, () => 1)
  await ibid.once(INTENT, () => 1)
  await failure(ibid.once({ ...INTENT, key: 'two' }, () => Promise.reject(new TypeError('boom'))))
  await ibid.transact({ ...INTENT, key: 'three' }, () => 3)
  const attributes = { 'ibid.scope': 'tool:refund', 'ibid.attempt': 1, 'ibid.store': 'memory' }
  expect(spans).toEqual([
    { name: 'ibid.attempt', attributes, ended: true },
    { name: 'ibid.attempt', attributes, ended: true, status: { code: SpanStatusCode.ERROR } },
    { name: 'ibid.attempt', attributes, ended: true },
  ])
})

test('[R12, R50] calls that the store did not answer are counted', async () => {
  const { added } = listen()
  const on = bench()
  const ibid = on.open()
  await ibid.check()
  on.tap.outage()
  void ibid.once(INTENT, () => 1).catch(() => undefined)
  await failure(ibid.get(INTENT))
  await on.time.pass(1_000)
  await turn()
  expect(added.filter(({ name }) => name === 'ibid.store.errors').length).toBeGreaterThanOrEqual(2)
})

test('without a provider everything works', async () => {
  expect(
    (
      await bench()
        .open()
        .once(INTENT, () => 1)
    ).value,
  ).toBe(1)
})

test('[R12, R50] an SDK that throws costs nobody an answer', async () => {
  const instrument = () => ({ add: broken, record: broken })
  metrics.setGlobalMeterProvider({
    getMeter: () => ({ createCounter: instrument, createHistogram: instrument }),
  } as never)
  const span = { isRecording: () => true, setStatus: broken, end: broken }
  for (const startSpan of [broken, () => span]) {
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as never)
    const on = bench()
    const ibid = on.open()
    on.tap.failBefore('claim', 1)
    const done = ibid.once(INTENT, () => 1)
    await on.time.pass(1_000)
    expect((await done).value).toBe(1)
    expect(await ibid.once(INTENT, () => 2)).toMatchObject({ value: 1, replayed: true })
    const other = { ...INTENT, key: 'other' }
    expect(await failure(ibid.once(other, () => Promise.reject(new Error('no'))))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    })
    trace.disable()
  }
})

test.each<[string, () => void]>([
  ['a tracer that cannot be had', () => trace.setGlobalTracerProvider({ getTracer: broken })],
  ['a meter that cannot be had', () => metrics.setGlobalMeterProvider({ getMeter: broken })],
  [
    'a meter that makes nothing',
    () => metrics.setGlobalMeterProvider({ getMeter: () => ({ createCounter: broken }) } as never),
  ],
  ['a context that cannot be had', () => around({ active: broken })],
  ['one that throws before the effect', () => around({ with: broken })],
  [
    'one that throws after it',
    () =>
      around({
        with: (_: unknown, work: () => unknown) => {
          work()
          return broken()
        },
      }),
  ],
  ['one that gives nothing back', () => around({ with: (_: unknown, work: () => unknown) => void work() })],
  ['one that runs nothing', () => around({ with: () => undefined })],
  ['one that runs it twice', () => around({ with: (_: unknown, work: () => unknown) => (work(), work()) })],
])('[R12, R50] %s costs nobody an answer, and runs no effect twice', async (_, spoil) => {
  spoil()
  onTestFinished(() => {
    trace.disable()
    context.disable()
    metrics.disable()
  })
  const ibid = bench().open()
  for (const way of ['once', 'transact'] as const) {
    let runs = 0
    const intent = { ...INTENT, key: way }
    expect((await ibid[way](intent, () => ++runs)).value).toBe(1)
    expect((await ibid[way](intent, () => ++runs)).value).toBe(1)
    const refused = ibid[way]({ ...INTENT, key: `${way} refused` }, () => {
      runs++
      throw new Rejected('no')
    })
    expect(await failure(refused)).toMatchObject({ code: 'REJECTED' })
    expect(runs).toBe(2)
  }
})

/** A tracer whose spans are sound, in a context that is not. */
function around(manager: object): void {
  const span = { isRecording: () => true, setStatus: () => span, end: () => undefined }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) } as never)
  const sound = { active: () => ROOT_CONTEXT, with: (_: unknown, work: () => unknown) => work() }
  context.setGlobalContextManager({ ...sound, disable: () => manager, ...manager } as never)
}

/** OpenTelemetry through its standard variables: what reaches a collector, and what happens without the SDK. */
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { caller, openHouse } from './bench.js'
import { openOrigin } from './origin.js'

const PRELOAD = fileURLToPath(new URL('../fixtures/telemetry/preload.mjs', import.meta.url))
const SDK = { NODE_OPTIONS: `--import ${PRELOAD}` }

interface Metrics {
  readonly service: string
  readonly points: readonly { name: string; value: number; labels: Record<string, string> }[]
}
interface Traces {
  readonly spans: readonly { name: string; isEnded: boolean; attributes: Record<string, unknown> }[]
}

describe('[R51] with the SDK', () => {
  test('one endpoint is enough: counters, durations and spans are there when the server has stopped', async () => {
    const collector = await openOrigin()
    const api = await openOrigin()
    const env = { ...SDK, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const served = await openHouse().serveWith(env, '--upstream', api.url, '--proxy-port', '0')
    const call = caller(served.url, served.key)
    const claim = { tenant: 'acme', scope: 'tool:refund', key: 'k', payload: 1 }
    const { body } = await call<{ token: string }>('/v1/claims', claim)
    await call('/v1/claims/settle', { ...claim, payload: undefined, token: body.token })
    await call('/v1/claims', claim)
    const headers = { 'idempotency-key': 'through-the-proxy' }
    await fetch(`${served.proxyUrl}/refunds`, { method: 'POST', headers, body: '{}' })
    expect(await served.stop()).toBe(0)
    expect(served.log()).toContain('OpenTelemetry is on')

    const sent = Object.fromEntries(collector.seen.map(({ url, body: text }) => [url, JSON.parse(text)])) as {
      '/v1/metrics': Metrics
      '/v1/traces': Traces
    }
    const { service, points } = sent['/v1/metrics']
    expect(service).toBe('ibid')
    const count = (event: string, layer: string): number =>
      points
        .filter(({ labels }) => labels['event'] === event && labels['layer'] === layer)
        .reduce((sum, { value }) => sum + value, 0)
    expect([count('claimed', 'tool'), count('settled', 'tool'), count('dedup_hit', 'tool')]).toEqual([
      1, 1, 1,
    ])
    expect(count('claimed', 'http')).toBe(1)
    expect(points.filter(({ name }) => name === 'ibid.claim.duration').length).toBeGreaterThanOrEqual(3)
    const spans = sent['/v1/traces'].spans.filter(
      ({ attributes }) => attributes['ibid.scope'] === 'http:POST /refunds',
    )
    expect(spans).toMatchObject([{ name: 'ibid.attempt', isEnded: true }])
  })

  test('what is turned off is not sent, and a name that was given stays', async () => {
    const collector = await openOrigin()
    const served = await openHouse().serveWith({
      ...SDK,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_SERVICE_NAME: 'refunds',
    })
    await served.stop()
    expect(collector.seen.map(({ url }) => url)).toEqual(['/v1/traces'])
    expect(JSON.parse(collector.seen[0]?.body ?? '')).toMatchObject({ service: 'refunds' })
  })
})

describe('without it', () => {
  test('a server that is asked for it says what to install, and works', async () => {
    const served = await openHouse().serveWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
    expect(served.log()).toContain('npm install @opentelemetry/sdk-node')
    expect((await caller(served.url, served.key)('/v1/me')).status).toBe(200)
  })

  test.each([
    {},
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_SDK_DISABLED: 'true' },
  ])('a server that is not asked for it says nothing: %j', async (env) => {
    const served = await openHouse().serveWith(env)
    expect(served.log()).not.toContain('OpenTelemetry')
    expect(await served.stop()).toBe(0)
  })
})

/**
 * OpenTelemetry, where somebody has installed its SDK and said by the standard variables where to send to. The engine
 * reports through the API package alone, so nothing else in the server knows about it.
 */
import type { Log } from './log.js'

const VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
]
const METRICS_GO_TO = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT']
const PACKAGE = '@opentelemetry/sdk-node'

interface Sdk {
  start(): void
  shutdown(): Promise<void>
}

/** Returns how to send the last of it. */
export async function startOpenTelemetry(env: NodeJS.ProcessEnv, log: Log): Promise<() => Promise<void>> {
  const isWanted = VARIABLES.some((name) => env[name] !== undefined && env[name] !== 'none')
  if (!isWanted || env['OTEL_SDK_DISABLED'] === 'true') return async () => {}
  env['OTEL_SERVICE_NAME'] ??= 'ibid'
  // The standard says so; the SDK sends traces by default, and metrics only where it is told to.
  if (METRICS_GO_TO.some((name) => env[name] !== undefined)) env['OTEL_METRICS_EXPORTER'] ??= 'otlp'
  try {
    const { NodeSDK } = (await import(PACKAGE)) as { readonly NodeSDK: new () => Sdk }
    const sdk = new NodeSDK()
    sdk.start()
    log.info('OpenTelemetry is on', { service: env['OTEL_SERVICE_NAME'] })
    return async () => await sdk.shutdown().catch(() => {})
  } catch (error) {
    log.warn(`OpenTelemetry is asked for, but ${PACKAGE} cannot be loaded: npm install ${PACKAGE}`, {
      error: error instanceof Error ? error.message : String(error),
    })
    return async () => {}
  }
}

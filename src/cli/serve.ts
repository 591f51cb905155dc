/**
 * `ibid serve`: the server, from its settings to its stop. Standard output is for people (or, with --json, one
 * line that says where it listens); standard error is the log.
 */
import { Command, Option } from 'commander'
import { firstKey, firstSteps } from '../server/first-start.js'
import { createLog } from '../server/log.js'
import { startOpenTelemetry } from '../server/open-telemetry.js'
import { type RunningServer, startServer } from '../server/server.js'
import {
  flagOf,
  readSettings,
  type Setting,
  type Settings,
  SETTINGS,
  variableOf,
} from '../server/settings.js'
import { openStore } from '../stores/open.js'
import { ownStore } from './own-store.js'
import { shownUrl } from './secrets.js'
import { asGiven } from './values.js'

const LOOPBACK = /^(127\.|localhost$|::1$)/

export function serveCommand(version: string): Command {
  const command = new Command('serve')
    .description('run the server: the HTTP API for any language, the page, and the modes that need no code')
    .option('--config <file>', 'settings as a JSON file (default: $IBID_CONFIG)')
    .option('--json', 'say where it listens as JSON')
  for (const [name, setting] of Object.entries(SETTINGS) as [string, Setting][]) {
    const value =
      setting.kind === 'boolean'
        ? '[true|false]'
        : `<${typeof setting.kind === 'string' ? setting.kind : setting.kind.join('|')}>`
    const usual = setting.usual === undefined ? '' : `, default ${shown(setting)}`
    command.addOption(
      new Option(`${flagOf(name)} ${value}`, `${setting.about} ($${variableOf(name)}${usual})`),
    )
  }
  return command.action(async (flags: Readonly<Record<string, unknown>>) => await run(flags, version))
}

function shown({ kind, usual }: Setting): string {
  return kind === 'duration' ? asGiven(usual as number) : String(usual)
}

async function run(flags: Readonly<Record<string, unknown>>, version: string): Promise<void> {
  const { config, json, ...given } = flags
  const settings = readSettings(given, process.env, config as string | undefined)
  const log = createLog(settings.log)
  const stop = stopSignal()
  const stopTelemetry = await startOpenTelemetry(process.env, log)
  const server = await startServer(openStore(settings.store ?? ownStore()), settings, version)
  const key = (settings.localKey ?? LOOPBACK.test(settings.host)) ? await firstKey(server.ibid) : undefined
  process.stdout.write(json ? `${JSON.stringify(placesOf(server, key))}\n` : welcome(server, settings, key))
  await stop
  log.info('stopping')
  await server.stop()
  await stopTelemetry()
}

function placesOf({ url, proxyUrl, metricsUrl }: RunningServer, key: string | undefined) {
  return { url, proxyUrl, metricsUrl, ...(key !== undefined && { key, try: firstSteps(url, key) }) }
}

function welcome({ url, proxyUrl }: RunningServer, settings: Settings, key: string | undefined): string {
  const lines = [
    `ibid is at ${url}`,
    ...(proxyUrl === undefined ? [] : [`the proxy is at ${proxyUrl} → ${shownUrl(settings.upstream ?? '')}`]),
  ]
  if (key === undefined) {
    lines.push('', 'Make a key:  ibid keys create --tenant acme --rights read,write,resolve')
  } else {
    lines.push('', 'A key for this machine, shown this once:', '', `  ${key}`)
    lines.push(
      '',
      'Paste these three lines: claim, settle, and claim again, which gives the first result.',
      '',
    )
    for (const line of firstSteps(url, key)) lines.push(line, '')
    lines.push('And watch them arrive:', '', `  ${url}/#key=${key}`, '')
  }
  return `${lines.join('\n')}\n`
}

/** The first signal asks; whoever cannot wait sends another, or SIGKILL, and leases lapse. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      let asked = false
      process.on(signal, () => {
        if (asked) process.exit(130)
        asked = true
        resolve()
      })
    }
  })
}

/** What stands under deploy/ and in the pages speaks of metrics, alerts, files and settings that there are. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { AUDIT_EVENTS } from '../../src/core/audit.js'
import { flagOf, type Setting, SETTINGS, variableOf } from '../../src/server/settings.js'
import { VERBS } from '../../src/testing/around.js'
import { caller, openHouse } from './bench.js'

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url)
const read = (path: string): string => readFileSync(at(path), 'utf8')
const VARIABLES = Object.keys(SETTINGS).map(variableOf)

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

/** Every expression that somebody would have Prometheus work out. */
function expressions(): readonly string[] {
  const { groups } = parse(read('deploy/alerts.yaml')) as Rules
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as Dashboard
  return [
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
}

describe('metrics', () => {
  test('[R51] the dashboard and the alerts ask for what /metrics serves, by labels that it has', async () => {
    const served = await openHouse().serve('--metrics-port', '0')
    const call = caller(served.url, served.key)
    await call('/v1/claims', { tenant: 'acme', scope: 'tool:refund', key: 'k', payload: 1 })
    await call('/v1/claims', { tenant: 'acme', scope: 'tool:refund', key: 'k', payload: 2 })
    await call('/v1/receipts')
    const text = await (await fetch(`${served.metricsUrl}/metrics`)).text()
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
    const labels = new Map<string, Set<string>>()
    for (const [, name = '', inside = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
      const known = labels.get(name) ?? new Set()
      for (const [, label = ''] of inside.matchAll(/(\w+)="/g)) known.add(label)
      labels.set(name, known)
    }
    const faults: string[] = []
    for (const expr of expressions()) {
      const used = [...expr.matchAll(/\b((?:ibid|process|nodejs)_\w+)(?:\{(.*?)\})?/g)]
      expect(used).not.toEqual([])
      for (const [, name = '', selector = ''] of used) {
        const base = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
        if (!types.has(base)) faults.push(`no metric ${name} in ${expr}`)
        if (name !== base && types.get(base) !== 'histogram') faults.push(`${base} is no histogram: ${expr}`)
        const grouped = [...expr.matchAll(/\bby \((.*?)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
        const asked = [...[...selector.matchAll(/(\w+)=/g)].map(([, label = '']) => label), ...grouped]
        // A counter that has not counted yet has no labels to show: its text says which it will have.
        const has = labels.get(name) ?? (name === 'ibid_store_errors_total' ? new Set(['verb']) : new Set())
        faults.push(
          ...asked.filter((label) => !has.has(label)).map((label) => `no ${label} on ${name}: ${expr}`),
        )
      }
      for (const [, label = '', values = ''] of expr.matchAll(/(event|verb)=~?"(.*?)"/g)) {
        const known: readonly string[] = label === 'event' ? AUDIT_EVENTS : VERBS
        faults.push(
          ...values
            .split('|')
            .filter((one) => !known.includes(one))
            .map((one) => `no ${label} ${one}`),
        )
      }
    }
    expect(faults).toEqual([])
  })

  test('every alert has a section in the operations page', () => {
    const alerts = (parse(read('deploy/alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules)
    const sections = [...read('docs/operations.md').matchAll(/^## (Ibid\w+)/gm)].map(([, name]) => name)
    expect(new Set(sections)).toEqual(new Set(alerts.map(({ alert }) => alert)))
  })
})

test('the page on the server lists every setting as it is', () => {
  const rows = [
    ...read('docs/server.md').matchAll(/^\| `(--[a-z-]+)` \| `(IBID_\w+)` \| (?:`(.*?)`)? ?\|/gm),
  ].map(([, ...row]) => row)
  const settings = (Object.entries(SETTINGS) as [string, Setting][]).map(([name, { usual }]) => [
    flagOf(name),
    variableOf(name),
    usual === undefined ? undefined : String(usual),
  ])
  expect(rows).toEqual(settings)
})

describe('containers', () => {
  interface Service {
    readonly build?: string
    readonly image?: string
    readonly environment?: Readonly<Record<string, string>>
    readonly volumes?: readonly string[]
    readonly ports?: readonly string[]
    readonly stop_grace_period?: string
  }
  const { services, volumes } = parse(read('compose.yaml')) as {
    readonly services: Readonly<Record<string, Service>>
    readonly volumes: Readonly<Record<string, unknown>>
  }
  const mounts = Object.entries(services).flatMap(([service, { volumes: all = [] }]) =>
    all.map((mount) => [service, ...mount.split(':')] as const),
  )
  const mounted = (service: string, path: string | undefined): string | undefined =>
    mounts.find(([owner, , target]) => owner === service && target === path)?.[1]

  test('the compose file names files, volumes and settings that are there', () => {
    const missing = mounts.filter(([, source = '']) =>
      source.startsWith('./') ? !existsSync(at(source)) : !(source in volumes),
    )
    expect(missing).toEqual([])
    const { environment = {}, build, stop_grace_period: grace = '' } = services['ibid'] as Service
    expect(existsSync(at(`${build}/Dockerfile`))).toBe(true)
    expect(Object.keys(environment).filter((name) => !VARIABLES.includes(name))).toEqual([])
    expect(Number.parseInt(grace, 10) * 1_000).toBeGreaterThan(SETTINGS.shutdown.usual)
  })

  test('Prometheus scrapes the port that the server has its metrics on, and finds the rules', () => {
    const { scrape_configs: scrapes, rule_files: rules } = parse(read('deploy/prometheus.yaml')) as {
      readonly scrape_configs: readonly { static_configs: readonly { targets: readonly string[] }[] }[]
      readonly rule_files: readonly string[]
    }
    const targets = scrapes.flatMap(({ static_configs: all }) => all.flatMap((one) => one.targets))
    expect(targets).toEqual([`ibid:${services['ibid']?.environment?.['IBID_METRICS_PORT']}`])
    expect(rules.map((path) => mounted('prometheus', path))).toEqual(['./deploy/alerts.yaml'])
  })

  test('Grafana is told where Prometheus and the dashboard are', () => {
    const provider = mounted('grafana', '/etc/grafana/provisioning/dashboards/ibid.yaml')
    const { providers } = parse(read(provider ?? '')) as {
      readonly providers: readonly [{ readonly options: { readonly path: string } }]
    }
    expect(mounted('grafana', `${providers[0].options.path}/ibid.json`)).toBe(
      './deploy/grafana-dashboard.json',
    )
    const source = mounted('grafana', '/etc/grafana/provisioning/datasources/ibid.yaml')
    const { datasources } = parse(read(source ?? '')) as {
      readonly datasources: readonly [{ readonly url: string }]
    }
    const { hostname, port } = new URL(datasources[0].url)
    expect(services[hostname]?.ports?.map((pair) => pair.split(':')[1])).toEqual([port])
  })

  test('the Dockerfile copies what is there or made on the way, and sets settings that there are', () => {
    const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n')
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1))
    expect(copied.filter((path) => !existsSync(at(path)))).toEqual([])
    const run = lines.filter((line) => line.startsWith('RUN ')).join(' ')
    const scripts = [...run.matchAll(/\bnode (scripts\/\S+)/g)].map(([, path = '']) => path)
    expect(scripts).not.toEqual([])
    expect(scripts.filter((path) => !existsSync(at(path)))).toEqual([])
    const env = lines.filter((line) => line.startsWith('ENV ')).join(' ')
    const names = [...env.matchAll(/\b(IBID_\w+)=/g)].map(([, name = '']) => name)
    expect(names.filter((name) => !VARIABLES.includes(name))).toEqual([])
    expect(read('Dockerfile')).toContain('/readyz')
  })
})

test('the unit of systemd sets settings that there are, gives a stop its time, and is one that systemd takes', () => {
  const unit = read('deploy/ibid.service')
  const names = [...unit.matchAll(/^Environment=(IBID_\w+)=/gm)].map(([, name = '']) => name)
  expect(names).not.toEqual([])
  expect(names.filter((name) => !VARIABLES.includes(name))).toEqual([])
  const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])
  expect(stopSeconds * 1_000).toBeGreaterThan(SETTINGS.shutdown.usual)
  const sections = [...unit.matchAll(/^\[(\w+)\]$/gm)].map(([, name]) => name)
  expect(sections).toEqual(['Unit', 'Service', 'Install'])
  // Where systemd is, it has the last word.
  if (!existsSync('/usr/bin/systemd-analyze')) return
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', at('deploy/ibid.service').pathname],
    { encoding: 'utf8' },
  )
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
})

/** What stands under deploy/ and in the pages speaks of metrics, alerts and settings that there are. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createDecisions } from '../../src/server/decisions.js'
import { createMeters } from '../../src/server/meters.js'
import { prometheus } from '../../src/server/prometheus.js'
import { flagOf, type Setting, SETTINGS, variableOf } from '../../src/server/settings.js'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const metrics = new Set(
  [
    ...prometheus(createDecisions(), createMeters(), { held: 0, isReady: true }).matchAll(/^# TYPE (\S+)/gm),
  ].map(([, name]) => name),
)

function unknownIn(text: string): readonly string[] {
  const named = [...text.matchAll(/\b(ibid_[a-z_]+|process_[a-z_]+|nodejs_[a-z_]+)\b/g)].map(([name]) => name)
  expect(named).not.toEqual([])
  return named.filter((name) => !metrics.has(name.replace(/_(bucket|sum|count)$/, '')))
}

test('the dashboard and the alerts ask for metrics that are there', () => {
  expect(unknownIn(read('deploy/grafana-dashboard.json'))).toEqual([])
  const { groups } = parse(read('deploy/alerts.yaml')) as { groups: { rules: { expr: string }[] }[] }
  expect(unknownIn(groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)).join('\n'))).toEqual([])
})

test('every alert has a section in the operations page', () => {
  const alerts = [...read('deploy/alerts.yaml').matchAll(/alert: (\w+)/g)].map(([, name]) => name)
  const sections = [...read('docs/operations.md').matchAll(/^## (Ibid\w+)/gm)].map(([, name]) => name)
  expect(new Set(sections)).toEqual(new Set(alerts))
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

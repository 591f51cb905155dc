/** scan: each symptom is planted, in an audit log or in recorded calls, and found; a healthy log shows none. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { change, put } from '../../src/testing/store/drafts.js'
import { filled, folder, HOUR_MS, ibid } from './command.js'

interface Finding {
  readonly code: string
  readonly level: string
  readonly scope: string
  readonly count: number
  readonly message: string
  readonly remedy: string
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

interface Scanned {
  readonly read: number
  readonly findings: readonly Finding[]
  readonly unseen: readonly string[]
}

async function scan(...args: string[]): Promise<Scanned & { readonly code: number | null }> {
  const ran = await ibid(['scan', ...args, '--json'])
  expect(ran.stderr).toBe('')
  return { ...ran.json<Scanned>(), code: ran.code }
}

const codes = ({ findings }: Scanned): readonly string[] =>
  [...new Set(findings.map(({ code }) => code))].toSorted()

describe('[R54] in an audit log', () => {
  test('a healthy one shows nothing, and what cannot be seen from it is said', async () => {
    const { url } = await filled(async ({ ibid: own }) => {
      for (let i = 0; i < 30; i++) await own.once({ scope: 's', key: `k${i}`, payload: { i } }, () => i)
      await own.once({ scope: 's', key: 'k3', payload: { i: 3 } }, () => 0)
      // No payload says nothing about being the same.
      for (let i = 0; i < 3; i++) await own.once({ scope: 'tick', key: `t${i}` }, () => i)
    })
    const scanned = await scan('--store', url)
    expect(scanned).toMatchObject({ code: 0, findings: [] })
    expect(scanned.read).toBe(67)
    expect(scanned.unseen.join()).toContain('fingerprints and no payloads')
    const people = await ibid(['scan', '--store', url])
    expect(people.stdout).toContain('no symptoms')
    expect(people.stdout).toContain('not seen from here')
  })

  test('the same arguments under different keys within seconds, and the pair of effects', async () => {
    const { url } = await filled(async ({ ibid: own, clock }) => {
      const payload = { payment: 'p1', amount: 5 }
      await own.once({ scope: 'tool:refund', key: 'first', payload }, () => 1)
      clock[0] = 2_000
      await own.once({ scope: 'tool:refund', key: 'second', payload }, () => 1)
      clock[0] = HOUR_MS
      await own.once({ scope: 'tool:refund', key: 'much later', payload }, () => 1)
    })
    const { findings, code } = await scan('--store', url)
    expect(code).toBe(3)
    expect(findings.map((finding) => [finding.code, finding.count])).toEqual([
      ['effect-pair', 1],
      ['same-arguments-new-key', 1],
    ])
    expect(findings[0]).toMatchObject({ level: 'error', examples: [{ key: 'first', otherKey: 'second' }] })
    expect((await scan('--store', url, '--within', '1s')).findings).toEqual([])
    expect((await scan('--store', url, '--since', '1ms')).read).toBeLessThan(6)
  })

  test('bursts of duplicates around restarts', async () => {
    const { url } = await filled(async ({ ibid: own, store, clock }) => {
      const call = (key: string): Promise<unknown> => own.once({ scope: 's', key, payload: { key } }, () => 1)
      clock[0] = -2 * HOUR_MS
      await call('a')
      const [claimed] = await own.history({ scope: 's', key: 'a' })
      clock[0] = -HOUR_MS
      const orphan = await put(store, { key: 'orphan', recovery: 'retry', forMs: 1 })
      const audit = { event: 'takeover' as const }
      await store.swap([change(orphan, 'pending', { epoch: null, attempt: 2, token: 't2', audit })])
      if (claimed) await store.record([{ ...claimed, event: 'dedup_hit', state: 'succeeded', count: 60 }])
      clock[0] = 0
      await call('b')
    })
    const { findings } = await scan('--store', url)
    const burst = findings.find(({ code }) => code === 'duplicate-burst')
    expect(burst).toMatchObject({ count: 60, scope: 's', examples: [{ restart: 'yes' }] })
    expect(burst?.message).toContain('around a restart')
  })

  test('a window shorter than the distance of the retries, and the pair of effects it made', async () => {
    const { url } = await filled(async ({ ibid: own, store, clock }) => {
      const intent = { scope: 'hook:stripe', key: 'evt_1', payload: { id: 'evt_1' } }
      await own.once(intent, () => 1, { window: '10s' })
      clock[0] = 60_000
      await store.purge(100, 10 * HOUR_MS)
      await own.once(intent, () => 2, { window: '10s' })
      const other = { scope: 'hook:github', key: 'd1', payload: { id: 'd1' } }
      await own.once(other, () => 1, { window: '100s' })
      clock[0] = 60_000 + 80_000
      await own.once(other, () => 1, { window: '100s' })
    })
    const scanned = await scan('--store', url)
    expect(codes(scanned)).toEqual(['effect-pair', 'executed-after-window', 'window-near-retry'])
    expect(scanned.findings.find(({ code }) => code === 'executed-after-window')).toMatchObject({
      scope: 'hook:stripe',
      count: 1,
      examples: [{ key: 'evt_1' }],
    })
    expect(scanned.findings.find(({ code }) => code === 'window-near-retry')).toMatchObject({
      scope: 'hook:github',
    })
  })

  test('attempts that finished late, and keys that came with another payload', async () => {
    const { url } = await filled(async ({ ibid: own, store }) => {
      await own.once({ scope: 's', key: 'k', payload: 1 }, () => 1)
      await expect(own.once({ scope: 's', key: 'k', payload: 2 }, () => 1)).rejects.toMatchObject({
        code: 'KEY_REUSED',
      })
      const [event] = await own.history({ scope: 's', key: 'k' })
      if (event) await store.record([{ ...event, event: 'stale', count: 2 }])
    })
    const scanned = await scan('--store', url)
    expect(codes(scanned)).toEqual(['finished-late', 'key-reused'])
    expect(scanned.findings[0]).toMatchObject({ code: 'finished-late', level: 'error', count: 2 })
    const people = await ibid(['scan', '--store', url])
    expect(people.stdout).toMatch(/^error finished-late \(tenant acme\)$/m)
    expect(people.stdout).toMatch(/^ {2}→ look the keys up downstream/m)
  })
})

function callsFile(lines: readonly (object | string)[]): string {
  const file = join(folder(), 'calls.ndjson')
  writeFileSync(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  return file
}

describe('[R26] in recorded calls', () => {
  const at = Date.parse('2026-01-01T00:00:00Z')
  const call = { tenant: 'acme', tool: 'issue_refund', runId: 'r1', stepId: 's1' }

  test('the field that differs between retries of one step', async () => {
    const file = callsFile([
      { ...call, at, key: 'k1', arguments: { amount: 5, reason: 'late', items: [{ sku: 'a', note: 'x' }] } },
      {
        ...call,
        at: at + 60_000,
        key: 'k2',
        arguments: { items: [{ note: 'y', sku: 'a' }], amount: 5.0, reason: 'was late' },
      },
      {
        ...call,
        at: at + 90_000,
        stepId: 's2',
        key: 'k3',
        arguments: { amount: 9, reason: 'other step', items: [] },
      },
    ])
    const scanned = await scan('--calls', file)
    const found = scanned.findings.filter(({ code }) => code === 'field-differs-between-retries')
    expect(found.map(({ message }) => /^"([^"]+)"/.exec(message)?.[1] ?? '').toSorted()).toEqual([
      'items.*.note',
      'reason',
    ])
    expect(found.find(({ message }) => message.startsWith('"reason"'))?.remedy).toContain(
      'ignore: ["reason"]',
    )
    expect(JSON.stringify(scanned)).not.toContain('was late')
    expect(JSON.stringify(await scan('--calls', file, '--values'))).toContain('was late')
  })

  test('the field that differs between calls that shared a key; an amount is never to be ignored', async () => {
    const file = callsFile([
      { ...call, at: '2026-01-01T00:00:00Z', key: 'k1', arguments: { amount: 5, to: 'a' } },
      {
        ...call,
        at: '2026-01-01T00:05:00Z',
        key: 'k1',
        stepId: 's2',
        arguments: { amount: 6, to: 'a' },
        replayed: true,
      },
    ])
    const { findings, code } = await scan('--calls', file)
    expect(code).toBe(3)
    expect(findings).toMatchObject([
      { code: 'field-differs-under-one-key', level: 'error', scope: 'tool:issue_refund' },
    ])
    expect(findings[0]?.message).toContain('"amount"')
    expect(findings[0]?.remedy).not.toContain('ignore')
  })

  test('[R54] symptoms too: new keys, pairs of effects, a window that is too short', async () => {
    const payload = { amount: 5 }
    const file = callsFile([
      { scope: 's', at, key: 'a', payload },
      { scope: 's', at: at + 1_000, key: 'b', payload },
      { scope: 's', at: at + 50_000, key: 'a', payload, replayed: true },
      { scope: 's', at: at + 500_000, key: 'a', payload },
    ])
    const scanned = await scan('--calls', file, '--window', '60s')
    expect(codes(scanned)).toEqual([
      'effect-pair',
      'executed-after-window',
      'same-arguments-new-key',
      'window-near-retry',
    ])
    expect(scanned.unseen.join()).toContain('no stepId')
  })

  test('a line that cannot be read is told by number and field', async () => {
    const good = { at, scope: 's', key: 'k' }
    const cases: readonly [string, object | string][] = [
      ['line 2 of --calls: at is missing', { scope: 's' }],
      ['line 2 of --calls: scope is missing', { at }],
      ['line 2 of --calls: key is not a text', { ...good, key: 7 }],
      ['line 2 of --calls: replayed', { ...good, replayed: 'yes' }],
      ['line 2 of --calls is not JSON', '{"at":1,'],
      ['line 2 of --calls is not an object', '[]'],
    ]
    const ran = await Promise.all(cases.map(([, line]) => ibid(['scan', '--calls', callsFile([good, line])])))
    expect(ran.map(({ code }) => code)).toEqual(cases.map(() => 2))
    expect(ran.map(({ stderr }, i) => stderr.includes(cases[i]?.[0] ?? '?'))).toEqual(cases.map(() => true))
    const absent = await ibid(['scan', '--calls', '/nowhere/calls.ndjson'])
    expect(absent).toMatchObject({ code: 2 })
    expect(absent.stderr).toContain('--calls')
  })
})

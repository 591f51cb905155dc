/** `ibid plan`: the worked example to the digit, and rates out of the audit log of a store that was at work. */
import { describe, expect, test } from 'vitest'
import { filled, HOUR_MS, ibid } from './command.js'

const times = '--caller-seconds 10 --retry-seconds 90 --network-seconds 30 --clock-seconds 5'
const example = `--rate 80 ${times} --margin 0.2 --duplicates 0.06 --over 10m --bits 128`.split(' ')

describe('[R53] the worked example', () => {
  test('for people: 135 s, 12 960 records, 4.8/s, 2 880, 2.47e-31', async () => {
    const { code, stdout } = await ibid(['plan', ...example])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^window +135 s/m)
    expect(stdout).toMatch(/^records +12 960 /m)
    expect(stdout).toMatch(/^duplicates +4\.8\/s, 2 880 in 10 min/m)
    expect(stdout).toMatch(/^collision +2\.47e-31 /m)
  })

  test('as JSON, and with what it costs', async () => {
    const prices = [
      '--bytes-per-record',
      '500',
      '--bytes-per-event',
      '0',
      '--gb-month',
      '1',
      '--million-writes',
      '1.25',
    ]
    const plan = (await ibid(['plan', ...example, ...prices, '--json'])).json<{
      collision: { risk: number }
    }>()
    expect(plan).toMatchObject({
      window: { seconds: 135, safeSeconds: 135, isSafe: true },
      capacity: { records: 12_960, duplicatesPerSecond: 4.8, duplicates: 2_880 },
      cost: { bytes: 6_480_000, writesPerSecond: 160, writesPerMonth: 518.4 },
    })
    expect(plan.collision.risk.toExponential(2)).toBe('2.47e-31')
  })

  test('a window that is set too short is told', async () => {
    const { stdout, code } = await ibid(['plan', ...example, '--window', '60s'])
    expect(code).toBe(0)
    expect(stdout).toContain('TOO SHORT')
    expect(stdout).toContain('at least 135 s')
  })
})

/** Ten a second for 100 seconds; each tenth comes again 40 seconds later. */
async function atWork() {
  return await filled(async ({ ibid: own, clock }) => {
    clock[0] = -HOUR_MS
    const call = (key: string): Promise<unknown> => own.once({ scope: 's', key, payload: { key } }, () => 1)
    const start = Date.now()
    for (let second = 0; second <= 100; second++) {
      clock[0] = -HOUR_MS + second * 1_000 - (Date.now() - start)
      await Promise.all(Array.from({ length: 10 }, (_, i) => call(`${second}-${i}`)))
      if (second >= 40) await call(`${second - 40}-0`)
      // Duplicates are recorded with the time at which they are flushed.
      await own.history({ scope: 's', key: 'none' })
    }
    clock[0] = 0
  })
}

describe('[R53] from a store at work', () => {
  test('reads rates, duplicates and the distance of retries', async () => {
    const { url } = await atWork()
    const { observed, rates, window } = (await ibid(['plan', '--store', url, '--json'])).json<{
      observed: Record<string, number>
      rates: Record<string, number>
      window: Record<string, number>
    }>()
    expect(observed['originals']).toBe(1_010)
    expect(observed['duplicates']).toBe(61)
    expect(observed['perSecond']).toBeCloseTo(1_010 / (observed['seconds'] ?? 0))
    expect(observed['retrySeconds']).toBeGreaterThanOrEqual(40)
    expect(window['seconds']).toBe(30 + (observed['retrySeconds'] ?? 0) + 30 + 5)
    expect(rates['duplicateShare']).toBeCloseTo(61 / 1_010)
    const people = await ibid(['plan', '--store', url, '--rate', '80'])
    expect(people.stdout).toMatch(/^observed +1 010 actions in /m)
    expect(people.stdout).toMatch(/^writes +160\/s$/m)
  })

  test('a log without claims in that time is told, not planned with', async () => {
    const { url } = await filled(async () => undefined)
    const ran = await ibid(['plan', '--store', url, '--since', '1m'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('no claims')
  })
})

test('what is missing or wrong is named by its flag, exit code 2', async () => {
  const cases: readonly [string, readonly string[]][] = [
    ['--rate', ['--retry-seconds', '9']],
    ['--retry-seconds', ['--rate', '9']],
    ['--rate', ['--rate=-1', '--retry-seconds', '9']],
    ['--margin', ['--rate', '1', '--retry-seconds', '9', '--margin', '1.2']],
    ['--bits', ['--rate', '1', '--retry-seconds', '9', '--bits', '0']],
    ['--since', ['--rate', '1', '--retry-seconds', '9', '--since', '1h']],
  ]
  const ran = await Promise.all(cases.map(([, args]) => ibid(['plan', ...args, '--json'])))
  for (const [at, { code, stderr, stdout }] of ran.entries()) {
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const { error } = JSON.parse(stderr) as { error: { message: string } }
    expect(error.message).toContain(cases[at]?.[0])
  }
})

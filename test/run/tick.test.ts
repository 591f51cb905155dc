/** Ticks: once each over all workers, over changes of clocks, after pauses, and with clocks that are wrong. */
import { describe, expect, test } from 'vitest'
import type { CatchUp } from '../../src/guards/run/index.js'
import { OutcomeUnknown } from '../../src/index.js'
import { type Bench, bench, failure, forever, gate, WHO } from './bench.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const

interface Local {
  readonly day: string
  readonly minutes: number
}

/** What a clock on a wall there shows: worked out with Intl, apart from the library under test. */
function localOf(zone: string): (ms: number) => Local {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    dateStyle: 'short',
    timeStyle: 'short',
  })
  return (ms) => {
    const [day = '', time = ''] = format.format(ms).split(', ')
    const [hours = '', minutes = ''] = time.split(':')
    return { day, minutes: Number(hours) * 60 + Number(minutes) }
  }
}

/** Every instant at which the clock there shows a quarter past or to, in the hours in which clocks change. */
function quartersAtNight(zone: string, fromMs: number, toMs: number): number[] {
  const local = localOf(zone)
  const found: number[] = []
  for (let ms = fromMs; ms <= toMs; ms += 900_000) {
    const { minutes } = local(ms)
    if (minutes < 240 && (minutes % 60 === 15 || minutes % 60 === 45)) found.push(ms)
  }
  return found
}

describe('[R44] a year of ticks', () => {
  test('[R44, R61] three zones with clock changes, eight workers with skewed clocks: each tick once', async () => {
    const startMs = Date.UTC(2030, 0, 1)
    const on = bench(startMs)
    const ran = new Map<string, number[]>(ZONES.map((zone) => [zone, []]))
    const early: number[] = []
    const SKEWS = [0, 40, -40, 5_000, -5_000, 95_000, -95_000, 600_000]
    for (const skewMs of SKEWS) {
      const clock = (): number => on.time.clock.now() + skewMs
      const { runs } = on.worker({ clock, recoverEvery: false, cancelEvery: 0 })
      for (const timeZone of ZONES) {
        const name = timeZone.replace('/', '-')
        const options = { name, cron: '15,45 0-3 * * *', timeZone, checkEvery: '1d' } as const
        const ticking = runs.tick(options, (_run, { at }) => {
          ran.get(timeZone)?.push(at.getTime())
          if (on.time.clock.now() < at.getTime()) early.push(at.getTime())
        })
        await on.time.pass(0)
        await ticking
      }
    }
    const endMs = startMs + 365 * DAY_MS
    for (let day = 0; day < 365; day++) await on.time.pass(DAY_MS)
    // The slowest worker, and ticks that were given back, need a moment after the last one.
    await on.time.pass(HOUR_MS / 4)
    for (const zone of ZONES) {
      const wanted = quartersAtNight(zone, startMs, endMs)
      const got = (ran.get(zone) as number[]).filter((ms) => ms <= endMs).toSorted((a, b) => a - b)
      expect(got, zone).toEqual(wanted)
      // A missing and a repeated hour, or half hour, are among them.
      const local = localOf(zone)
      const perDay = new Map<string, number>()
      for (const { day } of wanted.map(local)) perDay.set(day, (perDay.get(day) ?? 0) + 1)
      const days = [...perDay.values()].slice(1, -1)
      const counts = new Set(days)
      expect(counts, zone).toEqual(zone === 'Australia/Lord_Howe' ? new Set([8, 7, 9]) : new Set([8, 6, 10]))
    }
    expect(early).toEqual([])
  }, 120_000)

  test.each(ZONES)(
    '[R44] a job at a fixed time of day in %s runs once on every day of the year',
    async (timeZone) => {
      const startMs = Date.UTC(2030, 0, 1)
      const on = bench(startMs)
      const local = localOf(timeZone)
      const times = timeZone === 'Australia/Lord_Howe' ? ['15 2', '45 1'] : ['30 2', '30 1']
      for (const at of times) {
        const days: string[] = []
        const { runs } = on.worker({ recoverEvery: false, cancelEvery: 0 })
        const name = at.replace(' ', '-')
        const options = { name, cron: `${at} * * *`, timeZone, checkEvery: '1d' } as const
        const ticking = runs.tick(options, (_run, tick) => days.push(local(tick.at.getTime()).day))
        await on.time.pass(0)
        await ticking
        const firstMs = on.time.clock.now()
        for (let day = 0; day < 365; day++) await on.time.pass(DAY_MS)
        const wanted = new Set<string>()
        for (let ms = firstMs + DAY_MS; ms < firstMs + 364 * DAY_MS; ms += HOUR_MS) wanted.add(local(ms).day)
        expect(days.length).toBe(new Set(days).size)
        expect([...wanted].filter((day) => !days.includes(day))).toEqual([])
      }
    },
  )
})

describe('[R44] ticks that nobody was awake for', () => {
  const startMs = Date.UTC(2030, 5, 1)
  const hourly = { name: 'hourly', cron: '0 * * * *', timeZone: 'UTC' } as const

  async function ticking(on: Bench, catchUp: CatchUp, ran: number[]): Promise<ReturnType<Bench['worker']>> {
    const worker = on.worker({ cancelEvery: 0 })
    const started = worker.runs.tick({ ...hourly, catchUp }, (_run, { at }) =>
      ran.push((at.getTime() - startMs) / HOUR_MS),
    )
    await on.time.pass(0)
    await started
    return worker
  }

  test.each<[CatchUp, number[]]>([
    ['none', [1, 2, 8]],
    ['last', [1, 2, 7, 8]],
    ['all', [1, 2, 3, 4, 5, 6, 7, 8]],
  ])('[R44] catch-up %s, when all workers were down', async (catchUp, wanted) => {
    const on = bench(startMs)
    const ran: number[] = []
    const first = await ticking(on, catchUp, ran)
    await on.time.pass(2.5 * HOUR_MS)
    first.stop()
    await on.time.pass(5 * HOUR_MS)
    for (let n = 0; n < 3; n++) await ticking(on, catchUp, ran)
    await on.time.pass(HOUR_MS)
    expect(ran.toSorted((a, b) => a - b)).toEqual(wanted)
  })

  test.each<[CatchUp, number[]]>([
    ['none', [1, 2, 8]],
    ['last', [1, 2, 7, 8]],
    ['all', [1, 2, 3, 4, 5, 6, 7, 8]],
  ])('[R44] catch-up %s, when the computer was asleep', async (catchUp, wanted) => {
    const on = bench(startMs)
    const ran: number[] = []
    await ticking(on, catchUp, ran)
    await on.time.pass(2.5 * HOUR_MS)
    await on.time.jump(5 * HOUR_MS)
    await on.time.pass(HOUR_MS)
    expect(ran.toSorted((a, b) => a - b)).toEqual(wanted)
  })

  test('[R44] a schedule that is new has missed nothing', async () => {
    const on = bench(startMs)
    const ran: number[] = []
    await ticking(on, 'all', ran)
    await on.time.pass(HOUR_MS / 2)
    expect(ran).toEqual([])
  })

  test('[R44] no further back than ticks are remembered: 24 h', async () => {
    const on = bench(startMs)
    const ran: number[] = []
    const first = await ticking(on, 'all', ran)
    await on.time.pass(HOUR_MS)
    first.stop()
    await on.time.pass(100 * HOUR_MS)
    await ticking(on, 'all', ran)
    expect(ran).toEqual([1, ...Array.from({ length: 24 }, (_, n) => 78 + n)])
  })
})

describe('[R44] a tick', () => {
  const startMs = Date.UTC(2030, 5, 1)
  const hourly = { name: 'hourly', cron: '0 * * * *', timeZone: 'UTC' } as const

  test('[R44, R46] is a run under the instant by the schedule, kept for 25 h', async () => {
    const on = bench(startMs)
    const { runs, ibid } = on.worker()
    const started = runs.tick(hourly, (run) => run.step('report', () => 'sent'))
    await on.time.pass(HOUR_MS + 1_000)
    const ticker = await started
    expect(ticker.next()).toEqual(new Date(startMs + 2 * HOUR_MS))
    const { runs: listed } = await runs.list({ agent: 'cron.hourly' })
    expect(listed).toMatchObject([{ key: '2030-06-01T01:00:00.000Z', state: 'succeeded' }])
    const receipt = await ibid.get({ scope: 'run:cron.hourly', key: '2030-06-01T01:00:00.000Z' })
    expect(receipt?.windowMs).toBe(25 * HOUR_MS)
    ticker.stop()
    await on.time.pass(3 * HOUR_MS)
    expect((await runs.list({ agent: 'cron.hourly' })).runs).toHaveLength(1)
  })

  test('[R44, R45] whose worker died is resumed by another, behind the steps that committed', async () => {
    const on = bench(startMs)
    const done: string[] = []
    const [one, two] = [on.worker(), on.worker()]
    const ticking = [one, two].map(({ runs }, n) =>
      runs.tick(hourly, async (run) => {
        await run.step('first', () => done.push(`first by ${n}`))
        if (run.attempt === 1) await forever()
        await run.step('second', () => done.push(`second by ${n}`))
      }),
    )
    await on.time.pass(HOUR_MS + 1_000)
    await Promise.all(ticking)
    expect(done).toHaveLength(1)
    const by = Number(done[0]?.at(-1))
    ;[one, two][by]?.stop()
    await on.time.pass(5 * 60_000)
    expect(done).toEqual([`first by ${by}`, `second by ${1 - by}`])
  })

  test('[R44, R45] of one tenant is taken up, and resumed, with the code of that tenant', async () => {
    const on = bench(startMs)
    const { runs } = on.worker({ tenants: ['ada', 'bob', 'eve'], policy: { lease: '3s' } })
    const billed: string[] = []
    for (const tenant of ['ada', 'bob']) {
      const ticking = runs.tick({ ...hourly, tenant, policy: { maxAttempts: 3 } }, async (run) => {
        if (tenant === 'ada' && run.attempt < 3) throw new RangeError('the database is away')
        if (tenant === 'ada' && billed.length < 2) throw new OutcomeUnknown('ask a person')
        await run.step('bill', () => billed.push(`${run.tenant} by the code for ${tenant}`))
      })
      await on.time.pass(0)
      await ticking
    }
    await on.time.pass(HOUR_MS + 60_000)
    expect(billed).toEqual(['bob by the code for bob'])
    const held = await runs.list({ tenant: 'ada', agent: 'cron.hourly', state: 'unknown' })
    billed.push('a person looked')
    await runs.resume(held.runs[0]?.runId as string, WHO, { tenant: 'ada' })
    expect(billed.at(-1)).toBe('ada by the code for ada')
    const eve = { tenant: 'eve', agent: 'cron.hourly', trigger: 1 }
    expect(await failure(runs.start(eve))).toMatchObject({ code: 'NOT_REGISTERED' })
    runs.register('cron.hourly', () => 'by the code for all')
    expect(await runs.start(eve)).toMatchObject({ value: 'by the code for all' })
  })

  test('[R44] that is at work is waited for by a worker that closes', async () => {
    const on = bench(startMs)
    const { runs, ibid } = on.worker()
    const { passed, open } = gate()
    const done: string[] = []
    const ticking = runs.tick(hourly, async (run) => {
      await run.step('first', () => done.push('first'))
      await passed
      await run.step('second', () => done.push('second'))
    })
    await on.time.pass(HOUR_MS + 1_000)
    await ticking
    const closed = runs.close().then(() => ibid.close())
    await on.time.pass(1_000)
    expect(done).toEqual(['first'])
    open()
    await on.time.pass(1_000)
    await closed
    expect(done).toEqual(['first', 'second'])
  })

  test('[R44] that is set up while its worker closes never comes', async () => {
    const on = bench(startMs)
    const { runs } = on.worker()
    const ran: number[] = []
    const ticking = runs.tick(hourly, () => ran.push(on.time.clock.now()))
    const closing = runs.close()
    await on.time.pass(0)
    expect((await ticking).next()).toBeUndefined()
    await closing
    await on.time.pass(3 * HOUR_MS)
    expect(ran).toEqual([])
  })

  test('[R44] of a worker that is days ahead waits for its time, and none in between is lost', async () => {
    const on = bench(startMs)
    const ran: number[] = []
    await on
      .worker()
      .runs.tick(hourly, () => 0)
      .then((ticker) => ticker.stop())
    const { runs } = on.worker({ clock: () => on.time.clock.now() + 3 * DAY_MS })
    const started = runs.tick(hourly, () => ran.push((on.time.clock.now() - startMs) / HOUR_MS))
    await on.time.pass(0)
    await started
    await on.time.pass(3 * HOUR_MS + 1_000)
    expect(ran.map((hours) => Math.floor(hours))).toEqual([1, 2, 3])
  })

  test.each([
    ['a schedule that is none', { cron: '61 * * * *' }],
    ['a time zone that is none', { timeZone: 'Mars/Olympus' }],
    ['no time zone', { timeZone: undefined as unknown as string }],
    ['an empty time zone', { timeZone: '' }],
    ['a name that is none', { name: 'a b' }],
    ['a catch-up that is none', { catchUp: 'some' as 'all' }],
  ])('with %s is refused', async (_what, wrong) => {
    const { runs } = bench().worker()
    expect(await failure(runs.tick({ ...hourly, ...wrong }, () => 0))).toMatchObject({
      code: 'INVALID_INTENT',
    })
  })
})

/** Runs over real processes: simultaneous starts, admission, and workers that are killed. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.mjs'
import type { ReceiptDetail } from '../../src/index.js'
import type { LedgerLine } from '../../src/testing/index.js'
import type { Child } from '../../src/testing/process/start.js'
import { type Told, workers } from './workers.js'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(async () => {
  await server?.stop()
})

async function storm(children: readonly Child[], calls: readonly number[], key: string): Promise<Told[]> {
  const asked = children.map((child, i) =>
    child.call<Told[]>('storm', { calls: calls[i], key, effectMs: 40 }),
  )
  return (await Promise.all(asked)).flat()
}

describe.each([
  ['SQLite', undefined],
  ['Postgres', () => server.url],
] as const)('simultaneous starts on %s', (_name, url) => {
  const crew = workers(url)

  test.each([
    [10, [3, 3, 2, 2]],
    [200, [50, 50, 50, 50]],
  ])(
    '[R43, R60] %i with one key over four processes: one run, all get its id and its outcome',
    async (n, calls) => {
      const key = randomUUID()
      const told = await storm(await crew.start(4), calls, key)
      expect(told).toHaveLength(n)
      const lines = crew.effects().all()
      expect(lines).toHaveLength(1)
      const { runId, by } = (lines[0] as LedgerLine).data as { runId: string; by: number }
      expect(told.map((one) => one.runId)).toEqual(told.map(() => runId))
      expect(told.map((one) => one.value)).toEqual(told.map(() => ({ paid: key, by })))
      expect(told.filter(({ replayed }) => !replayed)).toHaveLength(1)
    },
  )
})

async function untilAdmitted(child: Child, key: string): Promise<Told> {
  for (;;) {
    const answer = await child.call<Told>('begin', { key })
    if (answer.code !== 'ADMISSION_REJECTED') return answer
    await sleep(Math.min(answer.retryAfterMs ?? 50, 100))
  }
}

describe('admission', () => {
  const crew = workers()

  test('[R43] a 429 followed by a retry with the same key succeeds, over processes', async () => {
    const [one, two, three] = (await crew.start(3, { maxActive: 2 })) as [Child, Child, Child]
    await one.call('begin', { key: 'a' })
    await two.call('begin', { key: 'b' })
    const refused = await three.call<Told>('begin', { key: 'c' })
    expect(refused).toMatchObject({ code: 'ADMISSION_REJECTED' })
    expect(refused.retryAfterMs).toBeGreaterThan(0)
    const receipt = await three.call<ReceiptDetail>('statusOf', { agent: 'billing', key: 'c' })
    expect(receipt.state).toBe('released')
    expect(await two.call('begin', { key: 'c' })).toMatchObject({ code: 'ADMISSION_REJECTED' })
    await one.call('finish', { key: 'a' })
    const admitted = await untilAdmitted(three, 'c')
    expect(admitted.runId).toContain('billing:c:')
    expect(crew.effects().count('begin c')).toBe(1)
    await two.call('finish', { key: 'b' })
    await three.call('finish', { key: 'c' })
  })

  test('[R43, R61] a worker that is killed frees its slot when its lease lapses', async () => {
    const [doomed, other] = (await crew.start(2, { maxActive: 1, policy: { lease: '500ms' } })) as [
      Child,
      Child,
    ]
    await doomed.call('begin', { key: 'a' })
    expect(await other.call('begin', { key: 'b' })).toMatchObject({ code: 'ADMISSION_REJECTED' })
    await doomed.kill()
    const admitted = await untilAdmitted(other, 'b')
    expect(admitted.runId).toContain('billing:b:')
    await other.call('finish', { key: 'b' })
  })

  test('[R43] never more runs at once than the limit, over four processes, and all get their turn', async () => {
    const children = await crew.start(4, { maxActive: 3 })
    const answers = await Promise.all(
      children.map((child, i) =>
        child.call<{ refusals?: number; code?: string }>('queue', {
          keys: Array.from({ length: 6 }, (_, n) => `${i}-${n}`),
          runMs: 200,
        }),
      ),
    )
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => undefined))
    const lines = crew.effects().all()
    expect(lines.filter(({ key }) => key === 'in')).toHaveLength(24)
    let active = 0
    const counts = lines.map(({ key }) => (active += key === 'in' ? 1 : -1))
    expect(Math.max(...counts)).toBeLessThanOrEqual(3)
    expect(answers.reduce((sum, { refusals = 0 }) => sum + refusals, 0)).toBeGreaterThan(0)
  })
})

describe('a run whose worker died', () => {
  const crew = workers()

  test('[R8, R43] a worker that was stopped past its lease finds its run taken, and takes no more steps', async () => {
    const [zombie, other] = (await crew.start(2, { policy: { lease: '500ms' } })) as [Child, Child]
    const { runId } = await zombie.call<Told>('beginStep', { key: 'z' })
    process.kill(zombie.pid, 'SIGSTOP')
    const begun = await other.call<Told>('begin', { key: 'z' })
    expect(begun.runId).toBe(runId)
    process.kill(zombie.pid, 'SIGCONT')
    expect(await zombie.call('lost', {})).toBe('LEASE_LOST')
    await zombie.call('finish', { key: 'z' })
    expect(await zombie.call('ending', {})).toMatchObject({ code: 'LEASE_LOST' })
    await other.call('finish', { key: 'z' })
    const [again] = await storm([zombie], [1], 'z')
    expect(again?.code).toBe('KEY_REUSED')
    expect(crew.effects().count('late z')).toBe(0)
  })

  const STEPS = 20
  // The trigger is claimed and settled, the run is claimed, each step is claimed and settled, the run is settled.
  const WRITES = 2 + 1 + 2 * STEPS + 1
  const POINTS = [
    ...Array.from({ length: WRITES }, (_, n) => ({ key: `write-${n + 1}`, dieAfterWrite: n + 1 })),
    ...Array.from({ length: STEPS }, (_, n) => ({ key: `effect-${n + 1}`, dieAfter: n + 1 })),
  ]

  test('[R45, R61] of twenty steps, killed at every point: each effect once, results identical', async () => {
    const policy = { lease: '1s', maxAttempts: 100 }
    const left = [...POINTS]
    async function killer(): Promise<void> {
      for (let point = left.shift(); point; point = left.shift()) {
        const { key, ...dying } = point
        const [victim] = (await crew.start(1, { policy, ...dying })) as [Child]
        await victim.call('startTwenty', { key }).catch(() => undefined)
        expect(await victim.ended, key).toBe('SIGKILL')
      }
    }
    await Promise.all([killer(), killer(), killer()])
    const [survivor] = (await crew.start(1, { policy, recoverEvery: '50ms' })) as [Child]
    await survivor.call('register', {})
    for (const { key } of POINTS) {
      for (;;) {
        const status = await survivor.call<ReceiptDetail | undefined>('statusOf', { agent: 'twenty', key })
        if (status?.state === 'succeeded') break
        expect(status?.state ?? 'pending', key).toBe('pending')
        // Killed before there was a run: its trigger comes again, as triggers do.
        if (status === undefined) await survivor.call('startTwenty', { key })
        else await sleep(20)
      }
      const lines = crew
        .effects()
        .all()
        .filter((line) => line.key.startsWith(`${key}/`))
      expect(
        lines.map((line) => line.key),
        key,
      ).toEqual(lines.map((_, n) => `${key}/${n + 1}`))
      expect(lines, key).toHaveLength(STEPS)
      const again = await survivor.call<Told>('startTwenty', { key })
      expect(again).toMatchObject({ replayed: true, value: lines.map(({ data }) => data) })
    }
  }, 240_000)
})

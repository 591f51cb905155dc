/** Calls to a server that does not answer: each is given up in its own time, by one timer for all. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDeadlines } from '../../src/stores/redis/deadlines.js'

const silent = (): Promise<never> => new Promise(() => {})

/** What has become of each call by now, in the order in which it did. */
function toldBy(calls: Readonly<Record<string, Promise<unknown>>>): readonly string[] {
  const told: string[] = []
  for (const [name, call] of Object.entries(calls)) {
    call.then(
      (answer) => told.push(`${name}: ${String(answer)}`),
      (error: unknown) => told.push(`${name}: ${(error as Error).message}`),
    )
  }
  return told
}

describe('the time that a server has for its answers', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('gives each up in its own time, whoever came first', async () => {
    const within = createDeadlines()
    const told = toldBy({
      long: within(500, silent()),
      short: within(20, silent()),
      next: within(60, silent()),
    })
    await vi.advanceTimersByTimeAsync(19)
    expect(told).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(told).toEqual([expect.stringMatching(/^short: .*no answer within 20 ms/)])
    await vi.advanceTimersByTimeAsync(480)
    expect(told.map((text) => text.split(':')[0])).toEqual(['short', 'next', 'long'])
  })

  it('hands on what is answered in time, and what is refused', async () => {
    const within = createDeadlines()
    const told = toldBy({
      answered: within(20, Promise.resolve('an answer')),
      refused: within(20, Promise.reject(new Error('a refusal'))),
    })
    await vi.advanceTimersByTimeAsync(100)
    expect(told).toHaveLength(2)
    expect(told[0]).toBe('answered: an answer')
    expect(told[1]).toMatch(/^refused: .*a refusal/)
  })

  it('starts anew after a time in which nobody waited', async () => {
    const within = createDeadlines()
    await within(20, Promise.resolve())
    await vi.advanceTimersByTimeAsync(1_000)
    expect(vi.getTimerCount()).toBe(0)
    const told = toldBy({ later: within(20, silent()) })
    await vi.advanceTimersByTimeAsync(20)
    expect(told).toHaveLength(1)
  })

  it('waits for nobody who has been answered, or refused', async () => {
    const within = createDeadlines()
    await within(500, Promise.resolve())
    await within(500, Promise.reject(new Error('a refusal'))).catch(() => {})
    const told = toldBy({ short: within(20, silent()) })
    await vi.advanceTimersByTimeAsync(20)
    expect(told).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps one timer, however many wait', async () => {
    const within = createDeadlines()
    toldBy(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i, within(100 + (i % 7), silent())])))
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(vi.getTimerCount()).toBe(0)
  })
})

/** The timers that keep a process from ending. */
function timersThatHold(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}

describe('a process', () => {
  it('does not end while an answer is awaited, and nothing holds it when all are there', async () => {
    const before = timersThatHold()
    const within = createDeadlines()
    let give: (() => void) | undefined
    const answer = new Promise<void>((resolve) => (give = resolve))
    const first = within(60_000, answer)
    const second = within(60_000, answer)
    expect(timersThatHold()).toBe(before + 1)
    give?.()
    await Promise.all([first, second])
    expect(timersThatHold()).toBe(before)
    const later = within(60_000, Promise.resolve())
    expect(timersThatHold()).toBe(before + 1)
    await later
    expect(timersThatHold()).toBe(before)
    await expect(within(1, silent())).rejects.toThrow('no answer within 1 ms')
    expect(timersThatHold()).toBe(before)
  })
})

/**
 * Time-out after commit: the caller goes away after its request was sent, and comes back with the same key. It
 * cannot know whether the effect happened; the other side can.
 */
import type { Bench } from '../bench.js'
import { effectSeen } from '../effect-seen.js'
import { type Property, stuckOrBroken } from '../property.js'
import type { Answer } from '../target.js'
import { judged, notTested } from '../verdict.js'

/** When the caller gives up: as soon as its request is sent, or when the probe shows the effect. */
const MOMENTS = ['sent', 'effect', 'sent', 'effect'] as const

export const cutOff: Property = {
  id: 'cut-off',
  about: 'the caller is cut off after sending, and retries: one effect, and an answer',
  async test(bench) {
    const payload = bench.payloads.slow === undefined ? 'plain' : 'slow'
    const faults: (string | undefined)[] = []
    let total: number | undefined
    let cut = 0
    for (const moment of bench.hasProbe ? MOMENTS : (['sent'] as const)) {
      const effects = await bench.counting()
      const order = { key: bench.newKey(), payload } as const
      if ((await cutAt(bench, order, moment)).kind === 'lost') cut++
      const retry = await bench.persist(order)
      total = await effects()
      faults.push(
        total !== undefined && total > 1 ? `${total} effects for 1 key` : undefined,
        total === 0 && retry.kind === 'done' ? 'the retry was answered, and nothing was done' : undefined,
        stuckOrBroken(retry, bench.terms.patienceMs),
      )
    }
    const finding = judged([...new Set(faults)], total)
    return finding.verdict === 'held' && cut === 0 ? notTested(tooFast(bench)) : finding
  },
}

function tooFast({ target }: Bench): string {
  return `it answers before its caller can be cut off: give --slow-${target.payloadName}, which waits after its effect`
}

/** Resolves when the caller is gone; or to its answer, when that was faster. */
async function cutAt(
  bench: Bench,
  order: Parameters<Bench['call']>[0],
  moment: 'sent' | 'effect',
): Promise<Answer> {
  const controller = new AbortController()
  const before = await bench.peek()
  const call = bench.call(order, {
    cut: controller.signal,
    // Not in the same breath: what was handed to the system is on its way now.
    onSent: () => void (moment === 'sent' && setImmediate(() => controller.abort())),
  })
  if (moment === 'effect' && (await effectSeen(bench, before, call))) controller.abort()
  return await call
}

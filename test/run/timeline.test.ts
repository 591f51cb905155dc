/** One trigger on its way from a webhook to a tool: a chain of keys, and one timeline. Tools through a broker. */
import { describe, expect, test } from 'vitest'
import {
  type CallContext,
  decodeChain,
  encodeChain,
  type Link,
  linkOf,
  type Run,
  timeline,
} from '../../src/guards/run/index.js'
import type { Ibid } from '../../src/index.js'
import { deriveKey } from '../../src/key/index.js'
import { bench, failure, forever, outlineOf, REFUND_OUTLINE } from './bench.js'

interface Observation {
  readonly ok: boolean
  readonly data?: unknown
  readonly error?: { readonly code: string; readonly retriable: boolean }
  readonly _idempotency: { readonly replay: boolean; readonly key: string }
}

/** A broker as far as a run needs one: a receipt per run, step, tool and ordinal; a reason does not count. */
function brokerOn(ibid: Ibid, done: string[], answer: () => boolean = () => true) {
  return {
    async call(tool: string, args: unknown, context: CallContext): Promise<Observation> {
      const { tenant, runId, stepId, ordinal } = context
      const key = deriveKey({ tenant, layer: 'tool', runId, stepId, tool, ordinal }, null)
      if (!answer()) {
        return { ok: false, error: { code: 'BUSY', retriable: true }, _idempotency: { replay: false, key } }
      }
      try {
        const intent = { tenant, scope: `tool:${tool}`, key, payload: args, identity: { ignore: ['reason'] } }
        const { value, replayed } = await ibid.once(intent, () => {
          done.push(`${tool} ${JSON.stringify(args)}`)
          return `${tool} ${done.length}`
        })
        return { ok: true, data: value, _idempotency: { replay: replayed, key } }
      } catch {
        const error = { code: 'DIVERGED_REPLAY', retriable: false }
        return { ok: false, error, _idempotency: { replay: false, key } }
      }
    },
  }
}

const TRIGGER = { agent: 'billing', key: 'evt_1', trigger: { invoice: 7 } }
const POLICY = { policy: { lease: '1s' } } as const

describe('[R46, R50] the chain of keys of one trigger', () => {
  test('[R46, R50] webhook, message, run, step, tool: one timeline, in order, printed', async () => {
    const on = bench()
    const { ibid, runs } = on.worker()
    const done: string[] = []
    const broker = brokerOn(ibid, done)
    let runId = ''
    async function consume(header: string): Promise<void> {
      const chain = decodeChain(header)
      await ibid.once({ scope: 'queue:refunds', key: 'msg_9' }, async (attempt) => {
        const started = await runs.start({ ...TRIGGER, via: [...chain, linkOf(attempt)] }, async (run) => {
          await run.step('look up', () => 'cus_1')
          return await run.step('refund', (step) => step.call(broker, 'issue_refund', { amount: 5 }), {
            recovery: 'retry',
          })
        })
        runId = started.runId
      })
    }
    await ibid.once({ scope: 'hook:stripe', key: 'evt_1' }, async (attempt) => {
      await on.time.pass(5)
      await consume(encodeChain([linkOf(attempt)]))
    })
    const told = await timeline(ibid, { runId })
    expect(outlineOf(told)).toEqual(REFUND_OUTLINE)
    expect(told.events.map(({ at }) => at)).toEqual(told.events.map(({ at }) => at).toSorted((a, b) => a - b))
    expect(told.events[0]).toMatchObject({ scope: 'hook:stripe', key: 'evt_1', event: 'claimed' })
    const printed = told.toString()
    for (const part of [
      'hook:stripe evt_1',
      '  queue:refunds msg_9',
      '    run:billing evt_1',
      'step 1 look up',
    ])
      expect(printed).toContain(part)
    expect(printed).toMatch(/step 2\.issue_refund#1 call issue_refund\s+claimed/)
    expect(printed).toMatch(/ {10}tool:issue_refund k1:\S+\s+settled/)
    expect(done).toEqual(['issue_refund {"amount":5}'])
  })

  test('[R50] a run that changed hands, was held, and was cancelled shows it', async () => {
    const on = bench()
    const dead = on.worker(POLICY)
    void dead.runs.start(TRIGGER, (run) => run.step('charge', forever))
    await on.time.pass(10)
    dead.stop()
    const { ibid, runs } = on.worker(POLICY)
    const refused = failure(runs.start(TRIGGER, (run) => run.step('charge', () => 1)))
    await on.time.pass(60_000)
    const { runId } = (await refused).data as { runId: string }
    await runs.cancel(runId, { by: 'ann', why: 'no longer wanted' })
    const printed = String(await timeline(ibid, { runId }))
    expect(printed).toMatch(/run:billing evt_1\s+takeover \(attempt 2\)/)
    expect(printed).toMatch(/step 1\s+held/)
    expect(printed).toMatch(/run:billing evt_1\s+resolved \(attempt 2\), by ann: no longer wanted/)
    expect(printed).toContain(`cancel:billing ${runId}`)
    const gone = failure(timeline(ibid, { runId: runId.replace('evt_1', 'evt_2') }))
    expect(await gone).toMatchObject({ code: 'NO_SUCH_RUN' })
  })

  test('a chain crosses a header, and what is none is none', () => {
    const links: readonly Link[] = [
      { scope: 'hook:stripe', key: 'evt_ä' },
      { scope: 'queue:q', key: '1' },
    ]
    expect(decodeChain(encodeChain(links))).toEqual(links)
    expect(encodeChain(links)).toMatch(/^[\w-]+$/)
    for (const bad of [
      undefined,
      '',
      'nonsense',
      encodeChain([]).slice(1),
      Buffer.from('[["a",""]]').toString('base64url'),
    ])
      expect(decodeChain(bad)).toEqual([])
    expect(() => encodeChain(Array.from({ length: 33 }, () => ({ scope: 's', key: 'k' })))).toThrow(/chain/)
  })
})

async function dieAfter(body: (run: Run, ibid: Ibid) => Promise<unknown>) {
  const on = bench()
  const dead = on.worker(POLICY)
  void dead.runs.start(TRIGGER, async (run) => {
    await body(run, dead.ibid)
    await forever()
  })
  await on.time.pass(10)
  dead.stop()
  await on.time.pass(1_500)
  return on.worker(POLICY)
}

describe('[R45, R38] a tool call in a run', () => {
  test('[R45, R37] that went well is not made again: its observation is the same, marked as a replay', async () => {
    const done: string[] = []
    const call = (run: Run, ibid: Ibid) => run.call(brokerOn(ibid, done), 'refund', { amount: 5 })
    const { ibid, runs } = await dieAfter(call)
    const { value } = await runs.start(TRIGGER, (run) => call(run, ibid))
    expect(value).toMatchObject({ ok: true, data: 'refund 1', _idempotency: { replay: true } })
    expect(done).toHaveLength(1)
  })

  test('[R38] with another reason is the same call, with another amount it has diverged', async () => {
    const done: string[] = []
    const { ibid, runs } = await dieAfter((run, dead) =>
      run.call(brokerOn(dead, done), 'refund', { amount: 5, reason: 'late' }),
    )
    const { value } = await runs.start(TRIGGER, async (run) => {
      const broker = brokerOn(ibid, done)
      return await run.call(broker, 'refund', { amount: 5, reason: 'it was late' })
    })
    expect(value).toMatchObject({ ok: true, data: 'refund 1' })
    const other = await dieAfter((run, dead) => run.call(brokerOn(dead, done), 'refund', { amount: 5 }))
    const { value: diverged } = await other.runs.start(TRIGGER, (run) =>
      run.call(brokerOn(other.ibid, done), 'refund', { amount: 6 }),
    )
    expect(diverged).toMatchObject({ ok: false, error: { code: 'DIVERGED_REPLAY' } })
    expect(done).toHaveLength(2)
  })

  test('[R38] of other tools, or in another order, runs each under its own key', async () => {
    const done: string[] = []
    const { ibid, runs } = await dieAfter(async (run, dead) => {
      const broker = brokerOn(dead, done)
      await run.call(broker, 'refund', { amount: 5 })
      await run.call(broker, 'refund', { amount: 7 })
      await run.call(broker, 'mail', {})
    })
    await runs.start(TRIGGER, async (run) => {
      const broker = brokerOn(ibid, done)
      await run.call(broker, 'mail', {})
      await run.call(broker, 'note', {})
      await run.call(broker, 'refund', { amount: 5 })
      await run.call(broker, 'refund', { amount: 7 })
    })
    expect(done).toEqual(['refund {"amount":5}', 'refund {"amount":7}', 'mail {}', 'note {}'])
  })

  test('[R45] that was refused before its worker died is asked for again', async () => {
    const done: string[] = []
    const { ibid, runs } = await dieAfter((run, dead) =>
      run.call(
        brokerOn(dead, done, () => false),
        'refund',
        {},
      ),
    )
    const { value } = await runs.start(TRIGGER, (run) => run.call(brokerOn(ibid, done), 'refund', {}))
    expect(value).toMatchObject({ ok: true, data: 'refund 1' })
  })

  test('[R36] that was refused is not kept: the run gets the refusal, and may ask again', async () => {
    const { ibid, runs } = bench().worker()
    const done: string[] = []
    let busy = true
    const broker = brokerOn(ibid, done, () => !busy)
    const { value } = await runs.start(TRIGGER, async (run) => {
      const first = await run.call(broker, 'refund', {})
      busy = false
      return [first.error?.code, (await run.call(broker, 'refund', {})).ok]
    })
    expect(value).toEqual(['BUSY', true])
  })
})

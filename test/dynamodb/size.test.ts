/** Nothing that the engine can hand over is too large for an item: the limit is met before the effect, not after. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDynamodb } from '../../scripts/servers/dynamodb.mjs'
import { createIbid, OutcomeUnknown } from '../../src/index.js'
import type { AuditEvent } from '../../src/core/audit.js'
import { dynamodbStore } from '../../src/stores/dynamodb/index.js'
import { type Emulator, freshTable } from './table.js'

/** Three bytes in UTF-8, one character here. */
const WIDE = '\u20ac'

describe('DynamoDB store: sizes, on an emulator', () => {
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startDynamodb()
  })
  afterAll(async () => await emulator.stop())

  it('keeps the longest outcome of the widest characters under the longest names', async () => {
    const store = dynamodbStore(await freshTable(emulator))
    const ibid = createIbid({ store, tenant: WIDE.repeat(255) })
    const intent = { scope: WIDE.repeat(255), key: WIDE.repeat(255), payload: 1 }
    const longest = WIDE.repeat(store.maxOutcome - '{"value":""}'.length)
    const first = await ibid.once(intent, async () => longest)
    expect(first.receipt.state).toBe('succeeded')
    const { receipts } = await store.get([first.receipt])
    expect(receipts[0]?.outcome?.length).toBe(store.maxOutcome)
    await ibid.close()
  })

  it('settles an effect whose result is too long as done, not retained', async () => {
    const store = dynamodbStore(await freshTable(emulator))
    const ibid = createIbid({ store, tenant: 'acme' })
    const intent = { scope: 's', key: 'k', payload: 1 }
    let effects = 0
    const effect = async () => WIDE.repeat(500_000 + effects++)
    expect((await ibid.once(intent, effect)).receipt.state).toBe('succeeded')
    const again = dynamodbStore({ ...(await freshTable(emulator)), table: tableOf(await store.check()) })
    const other = createIbid({ store: again, tenant: 'acme' })
    await expect(other.once(intent, effect)).rejects.toMatchObject({ code: 'VALUE_NOT_RETAINED' })
    expect(effects).toBe(1)
    await Promise.all([ibid.close(), other.close()])
  })

  it('cuts a reason that is too long, instead of failing to hold', async () => {
    const store = dynamodbStore(await freshTable(emulator))
    const ibid = createIbid({ store, tenant: 'acme' })
    const intent = { scope: 's', key: 'k', payload: 1 }
    await expect(ibid.once(intent, doubt)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    const { receipts } = await store.get([{ tenant: 'acme', ...intent }])
    expect(receipts[0]?.state).toBe('unknown')
    const { events } = await store.audit({ tenant: 'acme', scope: 's', key: 'k', limit: 10 })
    expect(events.map(({ event }) => event)).toEqual(['claimed', 'held'])
    expect((events[1] as AuditEvent).why?.length).toBeLessThan(3_000)
    await ibid.close()
  })
})

async function doubt(): Promise<never> {
  throw new OutcomeUnknown(WIDE.repeat(500_000))
}

function tableOf({ facts }: { readonly facts: Readonly<Record<string, unknown>> }): string {
  return String(facts['table'])
}

/** The scenarios of `npm run peers`: ibid comes through all of them, and a package without a claim through none. */
import { beforeAll, expect, test } from 'vitest'
import { ensurePeers } from '../../bench/peers/install.mjs'
import { crash, mismatch, operations, type Peer, tenants, zombie } from '../../scripts/peers/scenarios.mjs'
import { folder } from '../cli/command.js'

const SCENARIOS = { zombie, mismatch, crash, tenants, operations }

beforeAll(() => ensurePeers(() => undefined), 180_000)

function peer(name: string): Peer {
  const home = folder()
  const module = new URL(`../../scripts/peers/packages/${name}.mjs`, import.meta.url).href
  return { module, settings: { folder: home, lockMs: 1_000, url: `sqlite:${home}/ibid.db` } }
}

async function play(name: string): Promise<Readonly<Record<string, unknown>>> {
  const seen = Object.entries(SCENARIOS).map(
    async ([scenario, run]) => [scenario, await run(peer(name))] as const,
  )
  return Object.fromEntries(await Promise.all(seen))
}

test('[R4][R8][R61] ibid: no zombie writes, no mismatch passes, a crash is held, nobody collides', async () => {
  expect(await play('ibid')).toEqual({
    zombie: { good: true, text: 'the late worker got LEASE_LOST; readers kept seeing refund 2' },
    mismatch: { good: true, text: 'refused: KEY_REUSED' },
    crash: { good: true, text: '1 effect; the retry was told OUTCOME_UNKNOWN' },
    tenants: { good: true, text: 'apart' },
    operations: { good: true, text: 'apart' },
  })
})

test('idempotency-backend 1.0.4, which claims nothing before the work, is caught in each', async () => {
  expect(await play('idempotency-backend')).toEqual({
    zombie: { good: false, text: 'readers saw refund 2, and after the late worker refund 1' },
    mismatch: { good: false, text: 'the other payload got the first result' },
    crash: { good: false, text: '2 effects; the retry was told refund 2' },
    tenants: { good: false, text: 'the other tenant got the first one’s result' },
    operations: { good: false, text: 'the other operation got the first one’s result' },
  })
})

test('a package whose readers get nothing but an error does not come through the zombie', async () => {
  const module = new URL('../fixtures/forgetful-peer.mjs', import.meta.url).href
  const { settings } = peer('ibid')
  expect(await zombie({ module, settings: { ...settings, lockMs: 200 } })).toEqual({
    good: false,
    text: 'the late worker got refund 1; readers kept seeing LOST',
  })
})

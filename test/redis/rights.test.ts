/** Users that may not do everything: what they may not do is left out, where the promises do not need it. */
import { expect, it } from 'vitest'
import { createIbid } from '../../src/index.js'
import type { Receipt } from '../../src/core/receipt.js'
import type { RedisStoreOptions } from '../../src/stores/redis/index.js'
import { change, draft } from '../../src/testing/store/drafts.js'
import { withRedis } from './bench.js'

const bench = withRedis()

/** The URL of a user who may do everything but what `rules` take away. */
async function urlOf(name: string, ...rules: readonly string[]): Promise<string> {
  await bench.server.cli('ACL', 'SETUSER', name, 'on', '>pw', '~*', '+@all', ...rules)
  return `redis://${name}:pw@${new URL(bench.server.url).host}`
}

it.each([1, 3])(
  '[R6, R12] who may not use the channel settles %i as anybody, and only wakes nobody',
  async (count) => {
    const store = bench.open({}, await urlOf('nochannel', 'resetchannels'))
    const drafts = Array.from({ length: count }, () => draft())
    await store.claim(drafts)
    const { receipts } = await store.get(drafts)
    const swapped = await store.swap(receipts.map((receipt) => change(receipt as Receipt, 'succeeded')))
    expect(swapped.map(({ done }) => done)).toEqual(drafts.map(() => true))
    const ibid = createIbid({ store, tenant: 'acme', housekeeping: false })
    const intent = { scope: 's', key: 'k', payload: 1 }
    expect([await ibid.once(intent, () => 'paid'), await ibid.once(intent, () => 'again')]).toMatchObject([
      { value: 'paid', replayed: false },
      { value: 'paid', replayed: true },
    ])
  },
)

it('[R55] who may not call INFO is refused, and can accept that nothing is verified', async () => {
  const url = await urlOf('noinfo', 'allchannels', '-info')
  const levels = async (options: RedisStoreOptions) =>
    (await bench.open(options, url).check()).findings.map(({ level, code }) => `${level} ${code}`)
  expect(await levels({})).toEqual(['error UNVERIFIED'])
  expect(await levels({ accept: ['unverified'] })).toEqual(['warning UNVERIFIED'])
})

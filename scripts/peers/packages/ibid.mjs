/** ibid: `once`, with a tenant and a scope, as everything in it has. */
import { createIbid } from 'ibid'
import { openStore } from 'ibid/stores'

export async function open({ url, lockMs, recovery }) {
  const ibid = createIbid({ store: openStore(url) })
  return {
    close: () => ibid.close(),
    async call({ key, payload, tenant, operation }, effect) {
      const policy = { lease: lockMs, wait: 0, ...(recovery && { recovery }) }
      const { value } = await ibid.once({ tenant, scope: operation, key, payload }, effect, policy)
      return value
    },
    isUnderWay: ({ code }) => code === 'RETRY_IN_FLIGHT',
  }
}

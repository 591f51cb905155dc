/** The same refund as a function, with ibid.once on SQLite. REFUNDS=<folder> */
import { createIbid } from 'ibid'
import { sqliteStore } from 'ibid/sqlite'
import { openRefunds } from './refunds.mjs'

const refunds = openRefunds(process.env.REFUNDS)
const ibid = createIbid({ store: sqliteStore(`${process.env.REFUNDS}/ibid.db`), tenant: 'acme' })

export async function refund(key, payload) {
  const intent = { scope: 'refund', key, payload }
  const { value } = await ibid.once(intent, async () => await refunds.make(payload), { lease: '4s' })
  return value
}

export function effects() {
  return refunds.count()
}

/** The bank's ledger API: makes a refund for every request, knows no idempotency keys, and can mostly be asked. */
import type { Book } from './book.js'
import { startEffectApi } from './effect-api.js'
import type { Service } from './service.js'
import type { Storm } from './storm.js'

export async function startLedgerApi(
  storm: Storm,
  book: Book,
  kill: (pid: number) => void,
): Promise<Service> {
  const charges = new Map(storm.charges.map((charge) => [charge.charge, charge]))
  return await startEffectApi({
    prefix: 're',
    book,
    kill,
    failuresOf(charge) {
      const { ledgerSilences = 0, kill, hasLookup = true } = charges.get(charge) ?? {}
      const point = kill === 'before refund' ? 'before' : kill === 'after refund' ? 'after' : undefined
      return { silences: ledgerSilences, kill: point, hasLookup }
    },
  })
}

/** Where confirmation e-mails arrive: every one that is sent, however often. */
import type { Book } from './book.js'
import { startEffectApi } from './effect-api.js'
import type { Service } from './service.js'
import type { Storm } from './storm.js'

export async function startMailSink(storm: Storm, book: Book, kill: (pid: number) => void): Promise<Service> {
  const charges = new Map(storm.charges.map((charge) => [charge.charge, charge]))
  return await startEffectApi({
    prefix: 'mail',
    book,
    kill,
    failuresOf(charge) {
      const { mailSilences = 0, kill } = charges.get(charge) ?? {}
      return { silences: mailSilences, kill: kill === 'after mail' ? 'after' : undefined, hasLookup: true }
    },
  })
}

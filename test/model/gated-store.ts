/**
 * A store as one engine sees it, with a gate before and after every call: nothing is carried out, and no answer
 * arrives, before the replay says so. What a timer asked for is told apart from what a call asked for.
 */
import type { Store } from '../../src/store.js'
import type { Gates } from '../proof/gates.js'
import { callOf } from './token.js'

export type Verb = 'claim' | 'swap' | 'get' | 'scan' | 'purge'

export interface Gated {
  readonly store: Store
  /** What the store said to the call that was carried out last: won, or done. */
  said(): boolean | undefined
}

/** `byTimer`: is time passing right now? Then whatever is asked for was asked by a timer. */
export function gatedStore(inner: Store, gates: Gates, who: number, byTimer: () => boolean): Gated {
  let last: boolean | undefined
  async function through<T>(
    verb: Verb,
    call: () => Promise<T>,
    said: (answer: T) => boolean,
    isTimer = false,
    renews?: number,
  ): Promise<T> {
    const label = labelOf(verb, isTimer, renews)
    await gates.pass(who, label)
    const answer = await call()
    last = said(answer)
    if (verb === 'claim' || verb === 'swap') await gates.pass(who, label, 'after')
    return answer
  }
  // A watch would wake those who wait, at instants that the model knows nothing of.
  const { watch: _watch, ...rest } = inner
  const store: Store = {
    ...rest,
    // Every call on its own: the model knows no batches.
    maxBatch: 1,
    lanes: 100,
    claim: (wanted) =>
      through(
        'claim',
        () => inner.claim(wanted),
        ([one]) => one?.won === true,
      ),
    swap(changes) {
      const next = changes[0]?.next
      // A settlement that is tried again after a pause comes from a timer, too; only a renewal is nobody's next step.
      const isRenewal = byTimer() && next?.audit.event === 'renewed'
      return through(
        'swap',
        () => inner.swap(changes),
        ([one]) => one?.done === true,
        isRenewal,
        isRenewal ? callOf(next.token) : undefined,
      )
    },
    get: (addresses) =>
      through(
        'get',
        () => inner.get(addresses),
        () => true,
        byTimer(),
      ),
    scan: (query) =>
      through(
        'scan',
        () => inner.scan(query),
        () => true,
      ),
    purge: (limit, auditMs) =>
      through(
        'purge',
        () => inner.purge(limit, auditMs),
        ({ receipts }) => receipts > 0,
      ),
  }
  return { store, said: () => last }
}

/** `renews`: the call whose lease a timer renews. */
export function labelOf(verb: Verb, byTimer: boolean, renews?: number): string {
  const label = byTimer ? `${verb} by a timer` : verb
  return renews === undefined ? label : `${label}, of call ${renews}`
}

/** A store as it is, with a clock on each of its answers. */
import { performance } from 'node:perf_hooks'
import type { Store } from '../store.js'
import type { Meters } from './meters.js'

export function observedStore<Tx>(
  store: Store<Tx>,
  meters: Pick<Meters, 'answered' | 'storeFailed'>,
): Store<Tx> {
  function timed<In extends unknown[], Out>(
    verb: string,
    ask: (...given: In) => Promise<Out>,
  ): (...given: In) => Promise<Out> {
    return async (...given) => {
      const startMs = performance.now()
      try {
        const answer = await ask(...given)
        meters.answered(verb, performance.now() - startMs)
        return answer
      } catch (error) {
        meters.storeFailed(verb)
        throw error
      }
    }
  }
  const { watch, transact } = store
  return {
    name: store.name,
    maxBatch: store.maxBatch,
    lanes: store.lanes,
    maxOutcome: store.maxOutcome,
    claim: timed('claim', (wanted) => store.claim(wanted)),
    swap: timed('swap', (changes) => store.swap(changes)),
    get: timed('get', (addresses) => store.get(addresses)),
    scan: timed('scan', (query) => store.scan(query)),
    purge: timed('purge', (limit, auditMs) => store.purge(limit, auditMs)),
    forget: timed('forget', (claims) => store.forget(claims)),
    record: timed('record', (events) => store.record(events)),
    audit: timed('audit', (query) => store.audit(query)),
    check: timed('check', () => store.check()),
    close: () => store.close(),
    ...(watch && { watch: watch.bind(store) }),
    ...(transact && { transact: transact.bind(store) }),
  }
}

/**
 * The `sql` of a transaction of postgres.js, for as long as that lasts: it goes on sending on the same connection when
 * the transaction has ended, and then each statement commits by itself. What was made of it before and is awaited
 * only then is beyond reach.
 */
import { transactionEnded } from '../../core/errors.js'

type Callable = (...given: unknown[]) => unknown

const ASKING: ReadonlySet<string | symbol> = new Set(['unsafe', 'file', 'savepoint'])

export function untilEnded<Sql extends object>(sql: Sql): { readonly client: Sql; end(): void } {
  let open = true

  function ask(asked: Callable, given: readonly unknown[]): unknown {
    if (!open) throw transactionEnded()
    // The work inside a savepoint is given a `sql` of its own.
    return asked(...given.map((one) => (typeof one === 'function' ? inside(one as Callable) : one)))
  }

  function guarded<T extends object>(target: T): T {
    return new Proxy(target, {
      apply: (on, _, given: unknown[]) => ask(on as unknown as Callable, given),
      get(on, name) {
        const value: unknown = Reflect.get(on, name)
        return ASKING.has(name) ? (...given: unknown[]) => ask(value as Callable, given) : value
      },
    })
  }

  function inside(work: Callable): Callable {
    return (inner) => work(guarded(inner as object))
  }

  return {
    client: guarded(sql),
    end() {
      open = false
    },
  }
}

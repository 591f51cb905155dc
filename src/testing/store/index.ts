/**
 * `testStore` decides whether an implementation of the seam is a store. The suite is data, so that any runner can
 * register it: `for (const test of testStore(open)) it(test.name, test.run)`. Every test opens a store of its own.
 */
import { audit } from './audit.js'
import { batches } from './batches.js'
import { type OpenStore, type TestStoreOptions, withBench } from './bench.js'
import { claim } from './claim.js'
import { concurrency } from './concurrency.js'
import { durability } from './durability.js'
import { forget } from './forget.js'
import { lifecycle } from './lifecycle.js'
import { names } from './names.js'
import { processes } from './processes.js'
import { purge } from './purge.js'
import { scan } from './scan.js'
import { swap } from './swap.js'
import { time } from './time.js'
import { transact } from './transact.js'
import { unlike } from './unlike.js'

export interface StoreTest {
  readonly subject: string
  readonly title: string
  /** Subject and title: unique in the suite. */
  readonly name: string
  readonly run: () => Promise<void>
}

/** `open` makes a fresh store for a new context, and opens the same data for a context it has seen. */
export function testStore(open: OpenStore, options: TestStoreOptions = {}): readonly StoreTest[] {
  const subjects = [
    claim,
    names,
    swap,
    time(options),
    scan,
    purge,
    forget,
    audit,
    batches,
    unlike,
    concurrency,
    lifecycle,
    transact(options),
    durability(options),
    processes(options),
  ]
  return subjects.flatMap(({ subject, cases }) =>
    cases.map(({ name, run }) => ({
      subject,
      title: name,
      name: `${subject}: ${name}`,
      run: async () => await withBench(open, options, run),
    })),
  )
}

/** Defects in the embedded store. */
const TESTS = ['test/stores/sqlite.test.ts', 'test/sqlite']

const at = (file, defects) =>
  defects.map((defect) => ({ file: `src/stores/sqlite/${file}`, tests: TESTS, ...defect }))

export const sqlite = [
  ...at('statements.ts', [
    {
      name: 'SQLite: a settlement does not compare the token',
      find: 'WHERE id = ? AND token = ? AND state = ?',
      put: 'WHERE id = ? AND (token = ? OR 1) AND state = ?',
    },
    {
      name: 'SQLite: a settlement does not compare the state',
      find: 'WHERE id = ? AND token = ? AND state = ?',
      put: 'WHERE id = ? AND token = ? AND (state = ? OR 1)',
    },
  ]),
  ...at('statements.ts', [
    {
      name: 'SQLite: a lone settlement is written into a file of any version',
      find: 'const IS_VERSION = `(SELECT version FROM ibid_meta) = ${SCHEMA_VERSION}`',
      put: "const IS_VERSION = '1'",
    },
    {
      name: 'SQLite: a lone settlement stays when its note cannot be written',
      find: 'settleGivenAlone: `UPDATE OR ROLLBACK',
      put: 'settleGivenAlone: `UPDATE OR FAIL',
    },
    {
      name: 'SQLite: a lone claim takes an id that others have given out and forgotten',
      find: 'floor_id < ?1 AND ',
      put: '',
    },
    {
      name: 'SQLite: a lone claim stays when its note cannot be written',
      find: 'INSERT OR ROLLBACK',
      put: 'INSERT OR FAIL',
    },
    {
      name: 'SQLite: a lone claim does not know the epochs that others forgot',
      find: ' AND floor_epoch < ?11',
      put: '',
    },
  ]),
  ...at('alone.ts', [
    {
      name: 'SQLite: a lone settlement that was not made counts as made',
      find: 'isMade(result) ? {',
      put: 'result ? {',
    },
  ]),
  ...at('alone.ts', [
    {
      name: 'SQLite: a lone claim does not look whether the address is taken',
      find: '  if (catalogue.candidates(draft).length > 0) return undefined\n',
      put: '  catalogue.candidates(draft)\n',
    },
    {
      name: 'SQLite: a lone claim gives an id out again that it has committed',
      find: '    catalogue.committed()\n',
      put: '',
    },
  ]),
  ...at('given.ts', [
    {
      name: 'SQLite: a token alone says which row is settled',
      find: '    if (!isSame) return undefined\n',
      put: '    void isSame\n',
    },
  ]),
  ...at('catalogue.ts', [
    {
      name: 'SQLite: claims that were rolled back are settled without a look',
      find: '    this.given.clear()\n',
      put: '',
    },
  ]),
  ...at('wire.ts', [
    {
      name: 'SQLite: of a batch of claims, the last one is told to the worker again and again',
      find: '      last = like(last as Draft, first, fingerprint,',
      put: '      last = like(last as Draft, (last as Draft).key, fingerprint,',
    },
    {
      name: 'SQLite: a settlement crosses to the worker with the epoch of the one before',
      find: '    draft.epoch === last.epoch &&\n',
      put: '',
    },
  ]),
  ...at('desk.ts', [
    {
      name: 'SQLite: what was rolled back is answered all the same',
      find: 'return write(connection, tickets, true)',
      put: 'return tickets.map(({ input }) => ({ now: 0, answers: input.map(({ next }) => next.epoch) }))',
    },
  ]),
  ...at('swap.ts', [
    {
      name: 'SQLite: many settlements are taken for made',
      find: 'if (changedSoFar(connection) - before !== changes.length * ROWS_EACH) throw new NotAllMade()',
      put: 'void before',
    },
    {
      name: 'SQLite: a takeover does not compare the end of the lease',
      find: '(expect.until === undefined || until === expect.until)',
      put: 'true',
    },
    {
      name: 'SQLite: a new epoch may be below the last one',
      find: 'const receipt = stamp(next, now, before.epoch)',
      put: 'const receipt = stamp(next, now, 0)',
    },
  ]),
  ...at('claim.ts', [
    {
      name: 'SQLite: a claim does not look whether the address is taken',
      find: '  if (found) return found\n',
      put: '',
    },
    {
      name: 'SQLite: epochs forget what was purged',
      find: 'nextEpoch(now, catalogue.floorEpoch)',
      put: 'nextEpoch(now, 0)',
    },
  ]),
  ...at('catalogue.ts', [
    {
      name: 'SQLite: what other processes wrote is not read',
      find: 'if (this.#isQuiet) return\n',
      put: 'if (this.#dataVersion !== -1) return\n',
    },
    {
      name: 'SQLite: sealed generations are not looked at',
      find: '    this.#filter.find(high, low, named)\n',
      put: '',
    },
  ]),
  ...at('connection.ts', [
    {
      name: 'SQLite: a write is acknowledged and not committed',
      find: '    sql.commit.get()\n',
      put: '    sql.rollback.get()\n',
    },
  ]),
  ...at('purge.ts', [
    {
      name: 'SQLite: purge forgets what is still running',
      find: 'const FORGETTABLE = [STATE.released, STATE.succeeded, STATE.failed]',
      put: 'const FORGETTABLE = [STATE.released, STATE.succeeded, STATE.failed, STATE.pending]',
    },
    {
      name: 'SQLite: a claim in the transaction of a purge does not know the epochs that it forgot',
      find: '  catalogue.floorEpoch = raised[0] as number\n',
      put: '  void raised\n',
    },
  ]),
  ...at('schema.ts', [
    {
      name: 'SQLite: a change leaves no audit event',
      find: '  CREATE TRIGGER ibid_swapped AFTER UPDATE ON ibid_receipt BEGIN ${NOTE} END;\n',
      put: '',
    },
    {
      name: 'SQLite: a file of a newer release is written to',
      find: '  if (version <= SCHEMA_VERSION) return\n',
      put: '  if (version >= 0) return\n',
    },
  ]),
  ...at('transact.ts', [
    {
      name: 'SQLite: a transaction that failed is committed',
      find: '    rollBack(own.sql)\n    throw broken ?? error',
      put: '    own.sql.commit.get()\n    throw broken ?? error',
    },
  ]),
  ...at('open.ts', [
    {
      name: 'SQLite: a commit does not wait for the disk',
      find: "db.exec('PRAGMA synchronous = FULL')",
      put: "db.exec('PRAGMA synchronous = OFF')",
    },
  ]),
  ...at('receipt.ts', [
    {
      name: 'SQLite: what an error said is cut off at a NUL',
      find: '    writable(why),\n',
      put: '    why ?? null,\n',
    },
  ]),
  {
    name: 'SQLite: a call that meets a lock waits for ever where busyMs is no number',
    file: 'src/stores/sqlite/options.ts',
    tests: ['test/stores/options.test.ts'],
    find: "  within(busyMs, 'busyMs', 0, A_DAY_MS)\n",
    put: '',
  },
  {
    name: 'SQLite: a file that cannot be looked at is told before anything was asked',
    file: 'src/stores/sqlite/both-threads.ts',
    tests: ['test/sqlite/open.test.ts'],
    find: '  } catch {\n    return true\n',
    put: '  } catch (error) {\n    throw error\n',
  },
  {
    name: 'SQLite: a comment in front of it lets a COMMIT through that is not for the work',
    file: 'src/core/transaction-sql.ts',
    tests: ['test/sqlite/transactions.test.ts'],
    find: '^(?:[\\s;]|--[^\\n]*\\n|\\/\\*[^]*?\\*\\/)*',
    put: '^\\s*',
  },
]

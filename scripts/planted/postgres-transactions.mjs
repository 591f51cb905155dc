/** Defects of the Postgres store's transactions: what is told as committed, and what comes after the end. */
export const postgresTransactions = [
  {
    name: 'Postgres: what work left behind asks after the swap, and undoes it',
    file: 'src/stores/postgres/transact.ts',
    tests: ['test/postgres/committed.test.ts'],
    find: '      open = false\n      await Promise.all(unanswered)\n      return',
    put: '      return',
  },
  {
    name: 'Postgres: what failed work left running with the client writes after the rollback',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/committed.test.ts'],
    find: 'handedOut || unanswered > 0 || wasLeftBehind',
    put: 'wasLeftBehind',
  },
  {
    name: 'Postgres: the client of postgres.js goes on when its transaction has ended',
    file: 'src/stores/postgres/until-ended.ts',
    tests: ['test/postgres/committed.test.ts'],
    find: '      open = false\n',
    put: '',
  },
  {
    name: 'Postgres: a transaction that was kept from waiting for its standby is told as committed',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/standby.test.ts'],
    find: 'await committing(client, { text',
    put: 'await client.query({ text',
  },
  {
    name: 'Postgres: what was kept from waiting for its standby is believed as soon as it is read',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/standby.test.ts'],
    find: '        if (unreplicated > 0) await catchUp(session)\n',
    put: '',
  },
  {
    name: 'Postgres: a commit that was answered with ROLLBACK, unseen, is told as committed',
    file: 'src/stores/postgres/transact.ts',
    tests: ['test/postgres/committed.test.ts'],
    find: ' await mustBeThere(desk, settled)\n',
    put: ' settled.length += 0\n',
  },
  {
    name: 'Postgres: the second statement of a text ends the transaction',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/committed.test.ts'],
    find: ", queryMode: 'extended' })",
    put: ' })',
  },
]

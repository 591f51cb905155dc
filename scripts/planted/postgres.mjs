/** Defects in the Postgres store. */
export const postgres = [
  {
    name: 'Postgres: a connection that breaks before anybody has it ends the program',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/broken-connection.test.ts'],
    find: "  pool.on('acquire', hear)\n",
    put: '',
  },
  {
    name: 'Postgres: of a batch with a lost race, who was inserted is only found out by the next look',
    file: 'src/stores/postgres/claim.ts',
    tests: ['test/postgres/locks.test.ts'],
    find: 'if (named && !named.has(wanted.digest)) continue',
    put: 'if (named) continue',
  },
  {
    name: 'Postgres: a NUL in what an error said is sent as it is, and refused',
    file: 'src/core/audit.ts',
    tests: ['test/postgres/refused.test.ts', 'test/stores/postgres.test.ts'],
    find: "said.includes('\\0') ? said.replaceAll('\\0', '\\uFFFD') : said",
    put: 'said',
  },
  {
    name: 'Postgres: a settlement that is refused takes its batch with it',
    file: 'src/stores/postgres/desk.ts',
    tests: ['test/postgres/refused.test.ts'],
    find: '    await oneByOne(rows, work)\n',
    put: '    throw error\n',
  },
  {
    name: 'Postgres: a claim that is refused takes its batch with it',
    file: 'src/stores/postgres/claim.ts',
    tests: ['test/postgres/refused.test.ts'],
    find: '!(wasLocked(error) || wasRefused(error))',
    put: '!wasLocked(error)',
  },
  {
    name: 'Postgres: one break of the listening connection opens two',
    file: 'src/stores/postgres/listen.ts',
    tests: ['test/postgres/listening.test.ts'],
    find: '      if (client === opened) again()\n',
    put: '      drop()\n      if (!stopped) setTimeout(() => void open(), pauseMs)\n',
  },
  {
    name: 'Postgres: a transaction can be used after its end',
    file: 'src/stores/postgres/transact.ts',
    tests: ['test/postgres/transactions.test.ts'],
    find: '    if (!open) throw transactionEnded()\n',
    put: '    if (open === undefined) throw transactionEnded()\n',
  },
  {
    name: 'Postgres: a client that was kept writes after the rollback, in no transaction',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/transactions.test.ts'],
    find: 'if (!wasLeftBehind(error)) await',
    put: 'await',
  },
]

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
]

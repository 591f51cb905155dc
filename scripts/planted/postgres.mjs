/** Defects in the Postgres store. */
export const postgres = [
  {
    name: 'Postgres: a connection that breaks before anybody has it ends the program',
    file: 'src/stores/postgres/driver-pg.ts',
    tests: ['test/postgres/broken-connection.test.ts'],
    find: "  pool.on('acquire', hear)\n",
    put: '',
  },
]

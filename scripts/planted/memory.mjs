/** Defects in the memory store. */
export const memory = [
  ...['token', 'state'].map((part) => ({
    name: `a swap does not compare the ${part}`,
    file: 'src/stores/memory/conditions.ts',
    find: `receipt.${part} === expect.${part} &&`,
    put: '',
    tests: ['test/stores/memory.test.ts', 'test/proof/interleavings.test.ts'],
  })),
  {
    name: 'read, then insert: a claim awaits between looking and writing',
    file: 'src/stores/memory/index.ts',
    find: '    async claim(wanted) {\n      const now = step()\n      return wanted.map((draft) => claimOne(draft, now))',
    put: `    async claim(wanted) {
      const now = step()
      const seen = wanted.map((draft) => tables.entries.get(addressId(draft))?.receipt)
      await new Promise((resolve) => setImmediate(resolve))
      return wanted.map((draft, i) => {
        const found = seen[i]
        if (found) return { won: false as const, now, found }
        const receipt = stamp(draft, now, tables.floor)
        put(tables, receipt, draft.audit)
        return { won: true as const, now, epoch: receipt.epoch }
      })`,
    tests: ['test/stores/memory.test.ts'],
  },
  {
    name: 'the memory store forgets what is still running',
    file: 'src/stores/memory/conditions.ts',
    find: "receipt.state !== 'pending' && receipt.state !== 'unknown' && hasEnded",
    put: 'hasEnded',
    tests: ['test/stores/memory.test.ts'],
  },
]

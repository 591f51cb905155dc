/** Defects in the rules: the table, the stamps, the drafts, the outcomes. */
const TESTS = ['test/core', 'test/engine', 'test/proof/interleavings.test.ts']

const at = (file, defects) => defects.map((defect) => ({ file: `src/core/${file}`, tests: TESTS, ...defect }))

export const core = [
  ...at('lazy-signal.ts', [
    {
      name: 'a signal that is read after the end has not aborted',
      find: '      if (this.#ended) this.#controller.abort(this.#ended.reason)\n',
      put: '',
      tests: ['test/core/lazy-signal.test.ts'],
    },
    {
      name: 'the last reason of an end takes the place of the first',
      find: 'this.#ended ??= { reason }',
      put: 'this.#ended = { reason }',
      tests: ['test/core/lazy-signal.test.ts'],
    },
  ]),
  ...at('under-way.ts', [
    {
      name: 'what took the place of something under way is taken away with it',
      find: '|| (only !== undefined && cell.value !== only)',
      put: '',
      tests: ['test/core/under-way.test.ts'],
    },
    {
      name: 'what was taken away is still under way',
      find: '    this.#cells.delete(key)\n',
      put: '',
      tests: ['test/core/under-way.test.ts'],
    },
    {
      name: 'the earlier of two under one key stays',
      find: '    if (cell) cell.value = value\n    else',
      put: '    if (!cell)',
      tests: ['test/core/under-way.test.ts'],
    },
  ]),
  ...at('roster.ts', [
    {
      name: 'whoever takes the place of a member that went does not know it',
      find: '      last.at = at\n',
      put: '',
      tests: ['test/core/roster.test.ts'],
    },
    {
      name: 'a member that went is shown all the same',
      find: ' if (this.has(member)) visit(member)',
      put: ' visit(member)',
      tests: ['test/core/roster.test.ts'],
    },
    {
      name: 'a member that went can go again, and takes another with it',
      find: '    member.at = -1\n',
      put: '',
      tests: ['test/core/roster.test.ts'],
    },
    {
      name: 'those who are shown are skipped when one of them goes',
      find: 'for (const member of this.all()) if',
      put: 'for (const member of this.#members) if',
      tests: ['test/core/roster.test.ts'],
    },
  ]),
  ...at('transitions.ts', [
    {
      name: 'expiry ignored: a receipt past its window is replayed',
      find: "if (state !== 'pending') return 'expired'",
      put: "if (state !== 'pending') return state",
    },
    {
      name: 'fingerprint compared too late: a running attempt with another payload is only in flight',
      find: "  if (found.fingerprint !== fingerprint) return { kind: 'conflict' }\n",
      put: "  if (condition !== 'pending' && found.fingerprint !== fingerprint) return { kind: 'conflict' }\n",
    },
    {
      name: 'fingerprint not compared at all',
      find: "  if (found.fingerprint !== fingerprint) return { kind: 'conflict' }\n",
      put: '',
    },
    {
      name: 'hold is retried silently',
      find: "when: ['retry', 'check'], to: 'pending', newAttempt: true, counts: true }",
      put: "when: ['hold', 'retry', 'check'], to: 'pending', newAttempt: true, counts: true }",
    },
    {
      name: 'attempts are never used up',
      find: 'receipt.attempt >= receipt.maxAttempts || ',
      put: '',
    },
    {
      name: 'a lease counts as lapsed one millisecond early',
      find: "now < until || state === 'unknown'",
      put: "now < until - 1 || state === 'unknown'",
    },
    {
      name: 'the laxer of two policies wins',
      find: "return declared === 'check' ? 'check' : 'hold'",
      put: 'return declared',
    },
    {
      name: 'an unknown outcome expires by itself',
      find: " || state === 'unknown') return state",
      put: ') return state',
      tests: ['test/core'],
    },
  ]),
  ...at('receipt.ts', [
    {
      name: 'the epoch goes back with the clock',
      find: 'return Math.max(Math.floor(now * 1_000), lastEpoch + 1)',
      put: 'return Math.floor(now * 1_000)',
      tests: ['test/core', 'test/stores/memory.test.ts'],
    },
    {
      name: 'addresses run into each other',
      find: 'lastPrefix = `${tenant.length}:${scope.length}:${tenant}${scope}`',
      put: 'lastPrefix = `${tenant}${scope}`',
      tests: ['test/core', 'test/stores/memory.test.ts'],
    },
    {
      name: 'the tenant is not part of the address',
      find: 'lastPrefix = `${tenant.length}:${scope.length}:${tenant}${scope}`',
      put: 'lastPrefix = `${scope.length}:${scope}`',
      tests: ['test/core', 'test/stores/memory.test.ts'],
    },
    {
      name: 'the secret token is shown to the world',
      find: 'state: receipt.state,\n    attempt: receipt.attempt,',
      put: 'state: receipt.state,\n    ...{ token: receipt.token },\n    attempt: receipt.attempt,',
    },
  ]),
  ...at('drafts.ts', [
    {
      name: 'a takeover does not count as an attempt',
      find: 'row.counts ? found.attempt + 1 : found.attempt',
      put: 'found.attempt',
    },
    {
      name: 'a held receipt gets a window, and is forgotten',
      find: 'doubt: () => null,',
      put: 'doubt: ({ windowMs }) => windowMs,',
    },
    {
      name: 'a settled receipt keeps only the length of its lease',
      find: 'succeed: ({ windowMs }) => windowMs,',
      put: 'succeed: ({ leaseMs }) => leaseMs,',
    },
  ]),
  ...at('outcome.ts', [
    {
      name: 'a value that is too long is cut instead of given up',
      find: 'return lost(`its ${text.length} characters are over the limit of ${maxLength}`)',
      put: 'return `{"value":null}`',
    },
    {
      name: 'a replayed refusal does not say that it is one',
      find: '      replayed: true,\n',
      put: '',
    },
  ]),
  ...at('../ibid.ts', [
    {
      name: 'a misspelt policy of createIbid is the default',
      find: "  onlyKnown(options, KNOWN, 'createIbid')\n",
      put: '',
    },
  ]),
  ...at('queries.ts', [
    {
      name: 'a list of what is "held" is empty, whatever is held',
      find: '  if (wrong === undefined) return states\n',
      put: '  if (wrong !== null) return states\n',
    },
  ]),
  ...at('tagged.ts', [
    {
      name: 'a list that writes itself otherwise passes for a plain one',
      find: "  if ('toJSON' in value) return false\n  if (Array.isArray(value)) {\n    if (Object.getPrototypeOf(value) !== Array.prototype) return false\n",
      put: '  if (Array.isArray(value)) {\n',
      tests: ['test/engine/remembered.test.ts'],
    },
    {
      name: 'a payload that only looks like a list passes for one that was seen',
      find: '!Array.isArray(other) || mine.length !== other.length',
      put: 'mine.length !== (other as never as unknown[]).length',
      tests: ['test/engine/remembered.test.ts'],
    },
    {
      name: 'a function that all objects have passes for data',
      find: "two === undefined || typeof two === 'function' || ",
      put: 'two === undefined || ',
      tests: ['test/engine/remembered.test.ts'],
    },
    {
      name: 'a member without a value passes for another one',
      find: 'two === undefined || typeof two',
      put: 'typeof two',
      tests: ['test/engine/remembered.test.ts'],
    },
    {
      name: 'a payload with a member more passes for one that was seen',
      find: 'return more === 0',
      put: 'return true',
    },
    {
      name: 'replays share one object: a caller that changes its copy changes all',
      find: '  if (Array.isArray(value)) return value.map(copyPlain)\n  const copy',
      put: '  if (value !== null) return value\n  const copy',
    },
  ]),
  {
    name: 'what a payload is remembered as is not what its fingerprint was made of',
    file: 'src/ibid.ts',
    find: 'return again === fingerprint ? { payload: copy, identity } : undefined',
    put: 'return { payload: copy, identity }',
    tests: ['test/engine/remembered.test.ts'],
  },
  {
    name: 'the names of an intent are read again after they were checked',
    file: 'src/ibid.ts',
    find: '    const settled = engine.remembered(address)\n    checkIntent(intent)\n',
    put: '    const settled = engine.remembered((address = namedBy(intent)))\n    checkIntent(intent)\n',
    tests: ['test/engine/input.test.ts'],
  },
  {
    name: 'what a policy inherits is lost where the program has one as well',
    file: 'src/core/policy.ts',
    find: 'const value = policy[field as keyof Policy]',
    put: 'const value = Object.hasOwn(policy, field) ? policy[field as keyof Policy] : undefined',
    tests: ['test/core/policy.test.ts'],
  },
  {
    name: "a member of a policy without a value puts the house's choice in the place of the program's",
    file: 'src/core/policy.ts',
    find: 'value === undefined ? defaults[field as keyof Policy] : value',
    put: 'value',
    tests: ['test/engine/input.test.ts'],
  },
  {
    name: 'a claim that says nothing of waiting waits',
    file: 'src/ibid.ts',
    find: 'const { token, recovery, wait = 0, ...others } = policy',
    put: 'const { token, recovery, wait = 10_000, ...others } = policy',
    tests: ['test/engine/input.test.ts'],
  },
  {
    name: 'a refusal whose code has no value is replayed as the text of that',
    file: 'src/core/errors.ts',
    find: 'filter(([, value]) => value !== undefined)',
    put: 'filter(() => true)',
    tests: ['test/core/outcome.test.ts'],
  },
  {
    name: 'a refusal whose code is no text cannot be written down',
    file: 'src/core/outcome.ts',
    find: 'String(text).slice(0, most)',
    put: '(text as string).slice(0, most)',
    tests: ['test/core/outcome.test.ts'],
  },
  {
    name: 'a replay has none of the words of an error',
    file: 'src/core/tagged.ts',
    find: 'toTagged({ ...(value as object), name, message }, depth + 1)',
    put: 'toTagged({ ...value }, depth + 1)',
    tests: ['test/core/outcome.test.ts'],
  },
  {
    name: 'a misspelt payload is none, and whatever comes next under its key is the same',
    file: 'src/ibid.ts',
    find: '    checkIntent(intent)\n',
    put: '',
    tests: ['test/options'],
  },
  {
    name: 'a misspelt option is passed over',
    file: 'src/core/known.ts',
    find: '  if (unknown === undefined) return\n',
    put: '  if (unknown !== owner) return\n',
    tests: ['test/options'],
  },
  {
    name: 'a commit behind a comment inside a comment ends the transaction of the work',
    file: 'src/core/transaction-sql.ts',
    find: ', withoutNested(sql)]',
    put: ']',
    tests: ['test/core/transaction-sql.test.ts'],
  },
]

/** Defects in what the engine remembers and tells: its cache, its audit log, its telemetry. */
const TESTS = ['test/engine', 'test/proof/interleavings.test.ts', 'test/proof/findings.test.ts']

const at = (file, defects) =>
  defects.map((defect) => ({ file: `src/engine/${file}`, tests: TESTS, ...defect }))

export const remembering = [
  ...at('replay.ts', [
    {
      name: 'payload check skipped on the fast path',
      find: '  if (seen === undefined || seen.identity !== identity || !samePlain(seen.payload, payload)) return undefined\n',
      put: '  if (settled === undefined) return undefined\n',
    },
    {
      name: 'what recall gives to many can be changed by one of them',
      find: 'settled.shared ??= { value: frozen(copyOf(settled.plain)) }',
      put: 'settled.shared ??= { value: copyOf(settled.plain) }; void frozen',
    },
    {
      name: 'what once gives again is what it gave before',
      find: 'if (!shared) return copyOf(settled.plain)',
      put: 'if (!shared) return settled.plain.value',
    },
    {
      name: 'a replay shares what is nested in its value with the others',
      find: 'return isFlat ? { ...(value as object) } : copyPlain(value)',
      put: 'return isFlat || Object(value).a ? { ...(value as object) } : copyPlain(value)',
    },
    {
      name: 'the cache compares the payload but not what counts in it',
      find: 'seen.identity !== identity || ',
      put: '',
    },
  ]),
  ...at('telemetry.ts', [
    {
      name: 'an SDK that throws takes a claim that was won with it',
      find: '      try {\n        claims.record(ms, ofStore)\n      } catch {\n        // Theirs.\n      }\n',
      put: '      claims.record(ms, ofStore)\n',
    },
  ]),
  ...at('settled-cache.ts', [
    {
      name: 'the cache gives one tenant what belongs to another',
      find: ' || this.#tenant !== tenant',
      put: '',
    },
    {
      name: 'the cache gives one scope what belongs to another',
      find: ' || this.#scope !== scope',
      put: '',
    },
  ]),
  ...at('auditor.ts', [
    {
      name: 'a storm of duplicates that are read from the store is a row each',
      find: '      if (equal) return void equal.hits++\n',
      put: '',
    },
  ]),
]

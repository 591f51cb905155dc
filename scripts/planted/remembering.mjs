/** Defects in what the engine remembers and tells: its cache, its audit log, its telemetry. */
const TESTS = ['test/engine', 'test/proof/interleavings.test.ts', 'test/proof/findings.test.ts']

const at = (file, defects) =>
  defects.map((defect) => ({ file: `src/engine/${file}`, tests: TESTS, ...defect }))

export const remembering = [
  ...at('replay.ts', [
    {
      name: 'payload check skipped on the fast path',
      find: '  if (seen === undefined || seenBy !== identity || !samePlain(seen, payload)) return undefined\n',
      put: '  if (settled === undefined) return undefined\n',
    },
    {
      name: 'what recall gives to many can be changed by one of them',
      find: 'settled.shared ??= { value: frozen(copyOf(settled)) }',
      put: 'settled.shared ??= { value: copyOf(settled) }; void frozen',
    },
    {
      name: 'what once gives again is what it gave before',
      find: 'if (!shared) return copyOf(settled)',
      put: 'if (!shared) return settled.value',
    },
    {
      name: 'a replay shares what is nested in its value with the others',
      find: "return shape === 'flat' ? { ...(value as object) } : copyPlain(value)",
      put: "return shape === 'flat' || Object(value).a ? { ...(value as object) } : copyPlain(value)",
    },
    {
      name: 'the cache compares the payload but not what counts in it',
      find: 'seenBy !== identity || ',
      put: '',
    },
  ]),
  ...at('telemetry.ts', [
    {
      name: 'all decisions are counted under the layer of the first',
      find: 'if (layer !== lastLayer) {',
      put: 'if (lastLayer === undefined) {',
      tests: ['test/engine/telemetry.test.ts'],
    },
    {
      name: 'a context that throws after the effect makes it run twice',
      find: '    if (ended) return\n',
      put: '',
      tests: ['test/engine/telemetry.test.ts'],
    },
    {
      name: 'a context that runs nothing leaves the effect undone',
      find: '  work()\n  return (ended',
      put: '  return (ended',
      tests: ['test/engine/telemetry.test.ts'],
    },
    {
      name: 'an SDK that throws takes a claim that was won with it',
      find: '      try {\n        claims?.record(ms, ofStore)\n      } catch {\n        // Theirs.\n      }\n',
      put: '      claims?.record(ms, ofStore)\n',
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
  ...at('answered.ts', [
    {
      name: 'duplicates of all actions with one key are one event',
      find: '(other) => isSameClaim(other.receipt, receipt)',
      put: '() => true',
      tests: ['test/engine/answered.test.ts'],
    },
    {
      name: 'duplicates that came as other objects are an event each',
      find: '    if (counted) return void counted.hits++\n',
      put: '',
      tests: ['test/engine/answered.test.ts'],
    },
    {
      name: 'duplicates that were written down are written down again',
      find: '    for (const { settled } of taken) settled.hits = 0\n',
      put: '',
      tests: ['test/engine/audit.test.ts'],
    },
  ]),
  ...at('auditor.ts', [
    {
      name: 'a sink that rejects ends the process',
      find: '      told.catch(() => telemetry.storeFailed())\n',
      put: '      void told\n',
      tests: ['test/engine/audit.test.ts'],
    },
    {
      name: 'a sink can change what goes into the log',
      find: 'sink(events.map((event) => ({ ...event })))',
      put: 'sink(events)',
      tests: ['test/engine/audit.test.ts'],
    },
    {
      name: 'refusals of one life of a key are counted with those of the next',
      find: 'note.why, epoch, state, addressId(receipt)',
      put: 'note.why, state, addressId(receipt)',
      tests: ['test/engine/audit.test.ts'],
    },
  ]),
  ...at('settled-cache.ts', [
    {
      name: 'an answer that comes late makes a window longer',
      find: 'Math.floor(askedMs + leftMs)',
      put: 'Math.floor(timers.elapsedMs() + leftMs)',
      tests: ['test/engine/remembered.test.ts'],
    },
  ]),
  ...at('remote.ts', [
    {
      name: 'a claim is remembered for longer than its key is its own',
      find: 'claimed && room.timers.elapsedMs() < claimed.goodUntilMs',
      put: 'claimed',
      tests: ['test/engine/remote.test.ts'],
    },
  ]),
  ...at('once.ts', [
    {
      name: 'what cannot be read leaves its key as it is',
      find: '  const error = readable(thrown)\n',
      put: '  const error = thrown\n',
      tests: ['test/engine/verdicts.test.ts'],
    },
  ]),
  ...at('with-receipt.ts', [
    {
      name: 'one refusal for two keys tells both callers of the second',
      find: 'isTaken || Object.isFrozen(error)',
      put: 'Object.isFrozen(error)',
      tests: ['test/engine/verdicts.test.ts'],
    },
  ]),
  ...at('group-commit.ts', [
    {
      name: 'too few answers to a batch are taken for answers',
      find: '      if (outputs.length !== inputs.length) throw unequal(inputs.length, outputs.length)\n',
      put: '',
      tests: ['test/engine/group-commit.test.ts'],
    },
  ]),
]

/** Defects in the engine: acquiring, running, settling, waiting, remembering. */
const TESTS = ['test/engine', 'test/proof/interleavings.test.ts', 'test/proof/findings.test.ts']
/** What the simulation found, as stories of a few steps. */
const FOUND = ['test/simulation/found.test.ts']

const at = (file, defects) =>
  defects.map((defect) => ({ file: `src/engine/${file}`, tests: TESTS, ...defect }))

export const engine = [
  ...at('attempt.ts', [
    {
      name: 'every attempt is the first',
      find: '    this.isFirst = isFirst\n',
      put: '    this.isFirst = true\n',
      tests: ['test/engine/is-first.test.ts'],
    },
    {
      name: 'no attempt is the first',
      find: '    this.isFirst = isFirst\n',
      put: '    this.isFirst = false\n',
      tests: ['test/engine/is-first.test.ts'],
    },
  ]),
  ...at('acquire.ts', [
    {
      name: 'leases are judged by the local clock',
      find: 'const judged = judge(room, call, claiming, claimed.found, claimed.now, sinceMs)',
      put: 'const judged = judge(room, call, claiming, claimed.found, Date.now(), sinceMs)',
    },
    {
      name: 'leases are judged by the local clock when a claim is made again',
      find: 'await judge(room, call, claiming, claimed.found, claimed.now, sinceMs)',
      put: 'await judge(room, call, claiming, claimed.found, Date.now(), sinceMs)',
    },
    {
      name: 'a duplicate does not see what its own process is doing',
      find: '  if (room.isClosing() || room.executions.find(call.id)) return goOn(room, call, claiming)\n',
      put: '',
    },
    {
      name: 'a claim that was not answered is not asked again',
      find: '      await failed(room, claiming, 1, error)\n',
      put: '      throw unanswered(room, claiming, error)\n',
    },
    {
      name: 'a takeover does not compare the end of the lease: a renewed one is stolen',
      find: '  const { first } = claiming\n  const expect = { token: found.token, state: found.state, until: found.until }',
      put: '  const { first } = claiming\n  const expect = { token: found.token, state: found.state }',
    },
    {
      name: 'a claim whose answer was lost is treated as somebody else’s',
      find: "    if (found.state === 'pending') return regain(room, claiming, found)\n",
      put: '',
    },
    {
      name: 'a claim that was lost and held is taken up again under the same token',
      find: '    claiming.first = { ...claiming.first, token: room.newToken() }\n',
      put: '',
    },
    {
      name: 'payload check skipped when a duplicate joins in the same process',
      find: '  if (running.fingerprint !== call.fingerprint) throw conflict(room, call, running)\n',
      put: '',
    },
    {
      name: 'store unreachable: the call falls through to the effect',
      find: 'return take(room, call, claiming, await claim(room, claiming, sinceMs, 2), sinceMs)',
      put: 'return take(room, call, claiming, { won: true, now: 0, epoch: 1 }, sinceMs)',
    },
    {
      name: 'a claim under a token of the caller is given back under its feet',
      find: '  if (!brought) abandon(room, first)',
      put: '  if (brought || !brought) abandon(room, first)',
      tests: FOUND,
    },
  ]),
  ...at('transact.ts', [
    {
      name: 'a transaction that could not begin passes on whatever the client threw',
      find: 'hasBegun || error instanceof IbidError ? error :',
      put: 'hasBegun || error ? error :',
    },
    {
      name: 'work in a transaction hangs, and the transaction stays open',
      find: 'await orAborted(signal, work(tx, attempt))',
      put: 'await work(tx, attempt)',
    },
    {
      name: 'a transaction that begins after its time runs all the same',
      find: '  signal.throwIfAborted()\n  progress.hasBegun = true',
      put: '  progress.hasBegun = true',
    },
    {
      name: 'a transaction is committed after its caller was told that it was not',
      find: '  signal.throwIfAborted()\n  progress.asked',
      put: '  progress.asked',
    },
  ]),
  ...at('once.ts', [
    {
      name: 'a second attempt under check runs without asking downstream',
      find: 'check !== undefined && !isFirst',
      put: 'check !== undefined && receipt.attempt > 1_000',
    },
    {
      name: 'a receipt that was given back runs again under check without asking downstream',
      find: 'check !== undefined && !isFirst',
      put: 'check !== undefined && receipt.attempt > 1',
      tests: FOUND,
    },
    {
      name: 'an unclassified error gives the key back under hold',
      find: "  return held('the effect failed without saying whether it happened', error)",
      put: "  return failing('release', error, 'the effect failed')",
    },
    {
      name: 'the cache serves a receipt that is not settled',
      find: "  if (receipt.state !== 'succeeded' && receipt.state !== 'failed') return undefined\n",
      put: '',
    },
  ]),
  ...at('settle.ts', [
    {
      name: 'a settlement that another has overtaken is told as made',
      find: '(swapped.done ? made(room, change, swapped, askedMs) : goOn())',
      put: 'made(room, change, { ...swapped, done: true, epoch: receipt.epoch }, askedMs)',
    },
    {
      name: 'a settlement that was not answered is not asked again',
      find: '(swapped.done ? made(room, change, swapped, askedMs) : goOn()), goOn)',
      put: '(swapped.done ? made(room, change, swapped, askedMs) : goOn()))',
    },
    {
      name: 'a zombie is told that it settled',
      find: "  notice(room, receipt, 'stale')\n  return undefined",
      put: '  return { receipt, now }',
    },
    {
      name: 'a settlement whose answer was lost counts as a lost lease',
      find: 'state === next.state && outcome === next.outcome',
      put: 'state === next.state && outcome === undefined',
    },
    {
      name: 'a commit that was made is told as a lost lease',
      find: 'const possible = commit ? [commit, change] : [change]',
      put: 'const possible = [change]',
    },
    {
      name: 'a commit that was not answered is told as one that did not happen',
      find: 'commit ? UNSAID : MEANING[ending.event]',
      put: 'MEANING[ending.event]',
    },
  ]),
  ...at('attempt.ts', [
    {
      name: 'an effect starts on a lease that is over',
      find: 'if (room.timers.elapsedMs() - sinceMs < receipt.leaseMs / 2) return',
      put: 'if (room.timers.elapsedMs() >= sinceMs) return',
    },
    {
      name: 'an effect starts on a renewal that was answered after the lease had ended',
      find: 'if (room.timers.elapsedMs() - askedMs < receipt.leaseMs / 2) return',
      put: 'if (room.timers.elapsedMs() >= askedMs) return',
      tests: FOUND,
    },
    {
      name: 'a check that throws counts as “not found”',
      find: "  } catch {\n    return { found: 'unclear' }",
      put: '  } catch {\n    return { found: false }',
    },
  ]),
  ...at('lease-keeper.ts', [
    {
      name: 'a hung effect is renewed for ever',
      find: 'if (nowMs >= lease.endsMs) {',
      put: 'if (nowMs >= lease.endsMs * 1e9) {',
    },
    {
      name: 'leases are never renewed',
      find: 'if (nowMs >= lease.renewMs && !lease.renewing) void renew(lease, nowMs)',
      put: '',
    },
    {
      name: 'a lost lease goes unnoticed while the effect runs',
      find: 'if (!kept && leases.delete(lease)) lease.attempt.onLost()',
      put: 'if (!kept) leases.delete(lease)',
    },
  ]),
  ...at('group-commit.ts', [
    {
      name: 'batch order mixed up',
      find: 'resolves[i]?.(outputs[i] as Out)',
      put: 'resolves[resolves.length - 1 - i]?.(outputs[i] as Out)',
    },
    {
      name: 'the tail of a batch that is too long is lost',
      find: '      waiting.push(filling)\n',
      put: '      waiting[0] = filling\n',
    },
  ]),
  ...at('settled-cache.ts', [
    {
      name: 'the cache forgets that windows end',
      find: ' || timers.elapsedMs() >= entry.goodUntilMs) return undefined',
      put: ') return undefined',
    },
    {
      name: 'the cache grows without bound',
      find: '      old = young\n',
      put: '      old = new Map([...old, ...young])\n',
    },
  ]),
  ...at('waiting-room.ts', [
    {
      name: 'who comes to a closed waiting room waits in it',
      find: 'if (isClosed) return Promise.resolve(true)',
      put: '',
      tests: ['test/engine/lifecycle.test.ts'],
    },
    {
      name: 'waiting is one look',
      find: 'if (nowMs >= place.dueMs) void look(place)',
      put: 'if (nowMs >= place.dueMs && place.paceMs < 5) void look(place)',
    },
  ]),
  ...at('resolve.ts', [
    {
      name: 'a resolution that was carried out twice is told as one that changed nothing',
      find: 'if (receipt && isAsLeftBy(change, receipt)) return receipt',
      put: 'if (receipt && receipt.token !== change.expect.token) return receipt; void isAsLeftBy',
    },
  ]),
  ...at('held-check.ts', [
    {
      name: 'a status check of a held receipt that hangs is waited for without an end',
      find: 'askCheckWithin(room, found, timeoutMs, check)',
      put: 'askCheckWithin(room, found, timeoutMs * 1_000, check)',
    },
  ]),
  ...at('abandon.ts', [
    {
      name: 'a later attempt is given back as if nothing had happened',
      find: ' || receipt.attempt > 1) return true',
      put: ') return true',
    },
    {
      name: 'a claim that cannot be seen yet is not looked for again',
      find: 'if (!receipt) return false',
      put: 'if (!receipt) return true',
    },
    {
      name: 'close leaves the timer of a claim that is looked for',
      file: 'src/engine/engine.ts',
      find: '    room.errands.stop()\n',
      put: '',
    },
  ]),
  ...at('engine.ts', [
    {
      name: 'an unsafe store is used all the same',
      find: 'if (errors.length > 0) throw unsafeStore(',
      put: 'if (errors.length > 1_000) throw unsafeStore(',
    },
    {
      name: 'a cursor that is none is told as an outage',
      find: "if (asked && error instanceof IbidError && error.code === 'INVALID_INTENT') throw error\n",
      put: '\n',
      tests: ['test/stores/cursors.test.ts'],
    },
    {
      name: 'close does not wait for a resolution that is on its way',
      find: 'counted(() => resolve(',
      put: 'ready().then(() => resolve(',
      tests: ['test/engine/lifecycle.test.ts'],
    },
  ]),
  ...at('transact.ts', [
    {
      name: 'a transaction commits although its lease was lost',
      find: '  if (!swapped.done) {\n',
      put: '  if (!swapped.done && receipt.attempt > 1_000) {\n',
    },
  ]),
]

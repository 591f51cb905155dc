/** Defects in the Redis store. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/stores/redis', 'test/redis')

/** What the suite for stores notices, on a single server. */
const SUITE = ['test/stores/redis.test.ts']

export const redis = [
  ...at('node-redis.ts', 'watch', [
    {
      name: 'Redis: a subscription that ends while it connects is left behind',
      find: 'if (subscriber.isOpen) over?.()',
      put: 'if (subscriber.isOpen && over) subscriber.destroy()',
    },
  ]),
  ...at('ioredis.ts', 'waiting', [
    {
      name: 'Redis: who has a client without an offline queue is never woken',
      find: 'single.duplicate(PATIENT)',
      put: 'single.duplicate({} as never)',
    },
  ]),
  ...at('purge.ts', 'forget', [
    {
      name: 'Redis: a claim that is named beside another of its address is not forgotten',
      find: '[`${claim.epoch} ${addressId(claim)}`, claim]',
      put: '[addressId(claim), claim]',
      tests: SUITE,
    },
  ]),
  ...at('watch.ts', 'watch', [
    {
      name: 'Redis: a process that cannot listen tries for ever',
      find: '    if (performance.now() - rememberedMs >= idleMs) remembered.clear()\n',
      put: '',
    },
    {
      name: 'Redis: what ended before its process listened is left to polling',
      find: 'for (const address of remembered.values()) wake(address)',
      put: '',
    },
    {
      name: 'Redis: a process that waited once listens for ever',
      find: 'if (performance.now() - rememberedMs < idleMs) return',
      put: 'if (idleMs > 0) return',
    },
    {
      name: 'Redis: every process hears of every settlement',
      find: 'listeners.add(listener)\n',
      put: "listeners.add(listener)\n      remembered.set('', { tenant: '', scope: '', key: '' })\n      start()\n",
      tests: ['test/redis/waiting.test.ts'],
    },
  ]),
  ...at('scripts.ts', '', [
    {
      name: 'Redis: a swap compares no token',
      find: ' and find(there, token, 57, true) == 57',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a change that keeps its claim forgets when that came',
      find: '      kept = ${KEPT}\n',
      put: '      kept = sub(there, 28, 43) .. now .. sub(${KEPT}, 30)\n',
      tests: SUITE,
    },
    {
      name: 'Redis: a change that was not made is told as made',
      find: "    answer[#answer + 1] = i - 1\n    answer[#answer + 1] = ''\n",
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: the epoch of one receipt becomes that of the next of its run',
      find: '        answer[#answer + 1] = new\n',
      put: '        answer[#answer + 1] = new\n        epoch = new\n',
      tests: SUITE,
    },
    {
      name: 'Redis: what a batch inserts is not seen by the rest of it',
      find: 'local there = found[i] or fresh[key]',
      put: 'local there = found[i]',
      tests: SUITE,
    },
    {
      name: 'Redis: what a batch changes is not seen by the rest of it',
      find: 'local there = place and writes[place] or found[i]',
      put: 'local there = found[i]',
      tests: SUITE,
    },
    {
      name: 'Redis: the events of one run are noted as those of the next',
      find: '    if logged > 0 then flush() end\n    left, state',
      put: '    left, state',
      tests: SUITE,
    },
  ]),
  ...at('runs.ts', '', [
    ...[
      ['lasts as long as', 'forMs'],
      ['has the note', 'note'],
      ['has an outcome if that is so', 'hasOutcome'],
      ['is expected as', 'as'],
      ['is brought under the epoch', 'epoch'],
    ].map(([does, member]) => ({
      name: `Redis: a receipt ${does} of the one before it in its batch`,
      find: `      run.${member} !== ${member} ||\n`,
      put: '',
      tests: SUITE,
    })),
    {
      name: 'Redis: a receipt came at the time of the one before it in its batch',
      find: ' ||\n      run.created !== created\n',
      put: '\n',
      tests: SUITE,
    },
  ]),
  ...at('lone.ts', '', [
    {
      name: 'Redis: a lone claim that comes with an outcome loses it',
      find: ' || draft.outcome !== null',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a lone claim is not brought under its epoch',
      find: 'draft.epoch !== null || ',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a lone claim forgets when it came',
      find: 'draft.createdAt !== null || ',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a lone change keeps a claim that it was to replace',
      find: '  if (!keepsClaim(change)) return undefined\n',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a lone change that was not made is told as made',
      find: "return { now, 0, '' }",
      put: 'return { now }',
      tests: SUITE,
    },
    {
      name: 'Redis: a lone claim takes an address that has a receipt',
      find: "if call('SETNX', KEYS[3],",
      put: "if call('SET', KEYS[3],",
      tests: SUITE,
    },
    {
      name: 'Redis: nobody is told that a lone receipt ended',
      find: "if ARGV[1] ~= '' then",
      put: "if ARGV[1] == '' then",
      tests: ['test/redis/waiting.test.ts'],
    },
  ]),
  ...at('claim.ts', 'layout', [
    {
      name: 'Redis: the last claim of a batch is carried out before the others',
      find: 'isWhole && drafts',
      put: 'drafts',
    },
  ]),
  ...at('swap.ts', 'layout', [
    {
      name: 'Redis: the last change of a batch is carried out before the others',
      find: 'isWhole && changes',
      put: 'changes',
    },
  ]),
  ...at('scripts.ts', 'layout', [
    {
      name: 'Redis: a part of a millisecond moves all that is written behind it',
      find: "string.format('%013.0f', now + ${forMs})",
      put: 'now + ${forMs}',
    },
  ]),
  ...at('codec.ts', '', [
    {
      name: 'Redis: a token is read as it was quoted',
      find: "quoted.includes('\\\\')",
      put: 'quoted.length === 0',
      tests: SUITE,
    },
    {
      name: 'Redis: the log reads the epoch of every event as its own',
      find: '(shared || part)',
      put: 'part',
      tests: SUITE,
    },
  ]),
  ...at('layout.ts', '', [
    {
      name: 'Redis: a key is the place of the same key in another tenant',
      find: ' || last.tenant !== tenant',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a key is the place of the same key in another scope',
      find: ' || last.scope !== scope',
      put: '',
      tests: SUITE,
    },
  ]),
  ...at('deadlines.ts', 'deadlines', [
    {
      name: 'Redis: who waits for a shorter time waits as long as those before',
      find: 'if (one.endsMs < goesOffMs)',
      put: 'if (goesOffMs === Number.POSITIVE_INFINITY)',
    },
    {
      name: 'Redis: only the first of those who wait is given up',
      find: '    if (waiting.size > 0) arm(nextMs, nowMs)\n',
      put: '',
    },
    {
      name: 'Redis: a time that has passed is not waited for any more',
      find: '    goesOffMs = Number.POSITIVE_INFINITY\n    const nowMs',
      put: '    const nowMs',
    },
    {
      name: 'Redis: a process ends while it waits for an answer',
      find: '    else if (waiting.size === 1) timer?.ref()\n',
      put: '',
    },
    {
      name: 'Redis: a process does not end though all answers are there',
      find: 'if (waiting.delete(one) && waiting.size === 0) timer?.unref()',
      put: 'waiting.delete(one)',
    },
    {
      name: 'Redis: whoever has been answered is still waited for',
      find: '          leave(one)\n          resolve(answer)\n',
      put: '          resolve(answer)\n',
    },
  ]),
  ...at('lines.ts', 'lines', [
    {
      name: 'Redis: a tenant is written down as the one before',
      find: 'front.tenant !== tenant || front.scope !== scope',
      put: 'front.scope !== scope',
    },
    {
      name: 'Redis: the terms of one receipt are written down for the next',
      find: '    written.windowMs !== windowMs\n',
      put: '    written.windowMs === 0\n',
    },
    {
      name: 'Redis: the terms of one receipt are read as those of another',
      find: 'if (read?.line !== line)',
      put: 'if (read === undefined)',
    },
    {
      name: 'Redis: the state in a note is the one of the note before',
      find: 'noted?.note !== note || noted.state !== state',
      put: 'noted?.note !== note',
    },
  ]),
  ...at('node-redis.ts', 'closing', [
    {
      name: 'Redis: what is sent after close connects again',
      find: '    if (isClosed) throw closed()\n    const opening',
      put: '    const opening',
    },
    {
      name: 'Redis: a client that is destroyed on its way leaves its socket open',
      find: '    if (!isOnItsWay) client.destroy()\n',
      put: '    client.destroy()\n',
    },
  ]),
  ...at('connect.ts', 'closing', [
    {
      name: 'Redis: a store that is closed goes on looking for its server',
      find: "  signal.addEventListener('abort', onAbort)\n",
      put: '',
    },
  ]),
]

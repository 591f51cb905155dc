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
      find: ' and sub(there, 57, 56 + #token) == token',
      put: '',
      tests: SUITE,
    },
    {
      name: 'Redis: a change that keeps its claim forgets when that came',
      find: 'created, lines = sub(there, 31, 43), sub(there, 57, subject)',
      put: 'created, lines = now, sub(there, 57, subject)',
      tests: SUITE,
    },
    {
      name: 'Redis: a change that was not made is told as made',
      find: "say(i - 1, '')",
      put: 'say(i - 1, us)',
      tests: SUITE,
    },
    {
      name: 'Redis: what a batch inserts is not seen by the rest of it',
      find: 'local there = found[i] or fresh[key]',
      put: 'local there = found[i]',
      tests: SUITE,
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

/** Defects in the Redis store where a server is full, silent, one of many, or does not let everybody do everything. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/stores/redis', 'test/redis')

export const redisLimits = [
  ...at('upkeep.ts', 'purge', [
    {
      name: 'Redis: housekeeping stops before an entry that would go past its limit',
      find: '    dropped = dropped + events\n',
      put: '    if dropped > 0 and dropped + events > most then break end\n    dropped = dropped + events\n',
    },
  ]),
  ...at('purge.ts', 'purge', [
    {
      name: 'Redis: a step that dropped more than it was asked to is taken for the last one',
      find: 'events >= most.events',
      put: 'events === most.events',
    },
  ]),
  ...at('upkeep.ts', 'purge', [
    {
      name: 'Redis: a full server does not let the indexes follow',
      find: 'remove(KEYS[1], notOpen)\n',
      put: "call('ZADD', KEYS[3], 'NX', unpack(all))\nremove(KEYS[1], notOpen)\n",
    },
    {
      name: 'Redis: a full server does not let anything be forgotten',
      find: '    told[#told + 1] = ${KEPT}\n',
      put: '    local kept = ${KEPT}\n${LOG}\n',
    },
  ]),
  ...at('ioredis.ts', 'wait', [
    {
      name: 'Redis: replicas are waited for at a master that does not have the key under its prefix',
      find: "`${cluster.options.keyPrefix?.toString() ?? ''}${key}`",
      put: 'key',
    },
    {
      name: 'Redis: where no master is known, any node is asked for its replicas',
      find: 'if (!node) throw',
      put: "if (!node) return cluster.call('WAIT', args)\n    if (!node) throw",
    },
  ]),
  ...at('slot.ts', 'slot', [
    {
      name: 'Redis: an empty hash tag is taken for one',
      find: 'end > start',
      put: 'end >= start',
    },
  ]),
  ...at('scripts.ts', 'rights', [
    {
      name: 'Redis: who may not use the channel is told that nothing was settled',
      find: "redis.pcall('PUBLISH'",
      put: "redis.call('PUBLISH'",
    },
  ]),
  ...at('connect.ts', 'closing', [
    {
      name: 'Redis: a store over ioredis that is closed goes on waiting for a server that says nothing',
      find: 'settings), true)\n  if (!(await whileWanted(signal, single, isCluster(single))))',
      put: 'settings), true)\n  if (!(await isCluster(single)))',
    },
  ]),
  ...at('node-redis.ts', 'watch', [
    {
      name: 'Redis: a cluster that is closed on its way to listen leaves its sockets open',
      find: 'if (arrived) await Promise.race',
      put: 'if (arrived) void Promise.race',
    },
  ]),
  ...at('connect.ts', 'outage', [
    {
      name: 'Redis: a connection that died without a word is used for ever',
      find: '    socketTimeout: silentMs,\n',
      put: '',
    },
  ]),
  ...at('connect.ts', 'rights', [
    {
      name: 'Redis: a URL is of no use to who may not call INFO',
      find: '    if (isRefusal(error)) return false\n',
      put: '',
    },
  ]),
]

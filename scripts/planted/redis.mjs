/** Defects in the Redis store. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/stores/redis', 'test/redis')

export const redis = [
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

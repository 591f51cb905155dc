/** Defects in the Redis store. */
const at = (file, defects) =>
  defects.map((defect) => ({
    file: `src/stores/redis/${file}`,
    tests: ['test/redis/closing.test.ts'],
    ...defect,
  }))

export const redis = [
  ...at('node-redis.ts', [
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
  ...at('connect.ts', [
    {
      name: 'Redis: a store that is closed goes on looking for its server',
      find: "  signal.addEventListener('abort', onAbort)\n",
      put: '',
    },
  ]),
]

/** Defects in the client's fetch. */
const TESTS = ['test/http/client.test.ts']

export const http = [
  {
    name: 'the time of a try is left to AbortSignal.any, which may lose it',
    file: 'src/adapters/fetch.ts',
    tests: TESTS,
    find: 'signal: time?.signal ?? signal,',
    put: 'signal: time ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs as number)]) : signal,',
  },
  {
    name: 'a try does not end when its caller is gone',
    file: 'src/guards/http/deadline.ts',
    tests: TESTS,
    find: "else outer?.addEventListener('abort', follow, { once: true })",
    put: '',
  },
]

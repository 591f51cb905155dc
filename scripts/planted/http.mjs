/** Defects in the client's fetch, and in what a guarded response does when it cannot be sent as it was meant. */
import { inFolder } from './in-folder.mjs'

const TESTS = ['test/http/client.test.ts']
const at = inFolder('src/guards/http', 'test/http')

export const http = [
  {
    name: 'the time of a try is left to AbortSignal.any, which may lose it',
    file: 'src/adapters/fetch.ts',
    tests: TESTS,
    find: 'signal: time?.signal ?? signal ?? null }',
    put: 'signal: signal && time ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs as number)]) : (signal ?? null) }',
  },
  {
    name: 'a try does not end when its caller is gone',
    file: 'src/guards/http/deadline.ts',
    tests: TESTS,
    find: "else outer?.addEventListener('abort', follow, { once: true })",
    put: '',
  },
  {
    name: 'the reading of an answer does not end when its caller is gone',
    file: 'src/adapters/fetch.ts',
    tests: TESTS,
    find: 'init.signal === undefined && input instanceof Request ? input.signal : init.signal',
    put: 'request.signal',
  },
  {
    name: 'a request does not go through the proxy that its caller named',
    file: 'src/adapters/fetch.ts',
    tests: TESTS,
    find: '{ ...init, ...choicesOf(request), method',
    put: '{ redirect: request.redirect, method',
  },
  {
    name: 'a time for a try that is longer than a timer lasts is over at once',
    file: 'src/guards/http/deadline.ts',
    tests: TESTS,
    find: 'setTimeout(late, Math.min(ms, LONGEST_TIMER_MS))',
    put: 'setTimeout(late, ms)',
  },
  {
    name: 'half a second to wait is taken for a date long ago',
    file: 'src/adapters/fetch.ts',
    tests: TESTS,
    find: 'const isDate = /[a-z]/i.test(value)',
    put: 'const isDate = !/^\\d+$/.test(value)',
  },
  ...at('guard.ts', 'answered', [
    {
      name: 'what goes wrong behind the guard, when it had to wait, ends the process',
      find: 'opening.then((opened) => proceed(opened, goOn, failed), failed)',
      put: 'opening.then(goOn, failed)',
    },
  ]),
  ...at('intent.ts', 'findings', [
    {
      name: 'a tenant that is null is taken for one',
      find: ' && tenant !== null',
      put: '',
    },
  ]),
  ...at('options.ts', 'guard', [
    {
      name: 'a promise of whether a key is needed makes one',
      find: "if (typeof required === 'boolean' || required === 'derived') return required",
      put: 'if (required !== undefined) return required as Requirement',
    },
  ]),
  ...at('key-header.ts', 'guard', [
    {
      name: 'a second key behind the parameters of the first is passed over',
      find: String.raw`[\s!#-+\--~]*)?$/`,
      put: String.raw`[\s!#-~]*)?$/`,
    },
  ]),
  ...at('json-text.ts', 'refusals', [
    {
      name: 'a refusal with a BigInt in its data ends the process',
      find: "typeof value === 'bigint' ? String(value) : value",
      put: 'value',
    },
  ]),
  ...at('problem.ts', 'refusals', [
    {
      name: 'a refusal whose code every object answers to has a function for its status',
      find: 'own(STATUS, code) ?? 422',
      put: 'STATUS[code] ?? 422',
    },
    {
      name: 'a refusal of the handler is taken for an error of ours by its code',
      find: 'const isOwn = error instanceof Rejected && own(DISCREET, code) !== undefined',
      put: 'const isOwn = error instanceof Rejected && code === undefined',
    },
    {
      name: 'a server that shuts down tells its clients not to come again',
      find: 'const retriable = error.retriable || isClosed',
      put: 'const { retriable } = error',
    },
    {
      name: 'a refusal for good says when to come again, and its replay does not',
      find: 'retryAfterMs === undefined || !retriable ? {}',
      put: 'retryAfterMs === undefined ? {}',
    },
  ]),
  ...at('run.ts', 'late', [
    {
      name: 'a client whose time is up hears nothing of what the status check found',
      find: 'if (told === undefined) interrupt(answer ?? replayOf(value, receipt, problem))',
      put: 'if (told === undefined) return',
    },
  ]),
  ...at('kept-headers.ts', 'replayed', [
    {
      name: 'a value that is the name of a header is taken for one',
      find: 'for (let i = 0; i < end; i += 2) if',
      put: 'for (let i = 0; i < end; i += 1) if',
    },
    {
      name: 'a header that is given anew leaves the second of two behind',
      find: 'kept = kept.length === 0 ? own : [...notIn(own, kept), ...own]',
      put: 'kept = [...kept, ...own]',
    },
  ]),
  ...at('server-response.ts', 'replayed', [
    {
      name: 'the last of a header that a list names twice is the one that is sent',
      find: '    setListed(response, headers)\n    headers = undefined\n',
      put: '',
    },
  ]),
  ...at('fetch-run.ts', 'late', [
    {
      name: 'nobody lets go of the body of a response that came too late',
      find: '        discard(response, given)\n',
      put: '',
    },
  ]),
  ...at('fetch-response.ts', 'late', [
    {
      name: 'a stream without an end is read for ever, for a client that is gone',
      find: "else signal.addEventListener('abort', giveUp, { once: true })",
      put: '',
    },
  ]),
  ...at('fetch-response.ts', 'replayed', [
    {
      name: 'a replay over Fetch has a content type that nobody gave it',
      find: "typeof body === 'string' && byName['content-type'] === undefined ? Buffer.from(body) : body",
      put: 'body',
    },
  ]),
  {
    name: 'a replay on Fastify has a content type that nobody gave it',
    file: 'src/adapters/fastify.ts',
    tests: ['test/http/replayed.test.ts'],
    find: "if (reply.hasHeader('content-type')) reply",
    put: 'if (body !== undefined) reply',
  },
  {
    name: 'a replay on Fastify has the last of two headers of one name',
    file: 'src/adapters/fastify.ts',
    tests: ['test/http/replayed.test.ts'],
    find: 'isNamed(headers, name, i) ? [reply.getHeader(name)].flat() : []',
    put: '[]',
  },
  ...at('server-response.ts', 'answered', [
    {
      name: 'a replay is written into what somebody else has answered',
      find: '  if (response.headersSent) return\n',
      put: '',
    },
  ]),
  ...at('fetch-run.ts', 'fetch-runtimes', [
    {
      name: 'what a handler over Fetch throws leaves its run to its time-out',
      find: '        const answer = await run.fail(error)\n        if (answer) return toResponse(answer)\n',
      put: '',
    },
    {
      name: 'a handler over Fetch whose time is up is waited for',
      find: '      resolve(given)\n',
      put: '',
    },
    {
      name: 'the answer that was given in the place of a late response is read away from its client',
      find: 'if (!given) return',
      put: 'return',
    },
  ]),
  {
    name: 'a body in pieces may be of any length on Hono without Node',
    file: 'src/adapters/hono.ts',
    tests: ['test/http/fetch-runtimes.test.ts'],
    find: 'return readClone(req.raw, maxBytes)',
    put: 'return readClone(req.raw, Infinity)',
  },
  ...at('server-response.ts', 'close', [
    {
      name: 'a handler waits for ever for the end of a response that was dropped',
      find: '    if (done) process.nextTick(done)\n    return this\n',
      put: '    return this\n',
    },
    {
      name: 'a handler waits for ever for the end of a response that another was sent for',
      find: '          if (done) process.nextTick(done)\n',
      put: '',
    },
    {
      name: 'a response that is destroyed after its client has gone is open for ever',
      find: '  process.nextTick(tellClose, this, state)\n',
      put: '',
    },
    {
      name: 'a response whose time is up after its client has gone is open for ever',
      find: '  state.isLate = true\n  tellClose(response, state)\n',
      put: '  state.isLate = true\n',
    },
  ]),
  ...at('server-response.ts', 'refused', [
    {
      name: 'a header that Node refuses is found when the handler has gone',
      find: '  if (headers) checkHeaders(headers)\n',
      put: '',
    },
    {
      name: 'a chunk that Node refuses is taken',
      find: '  if (chunk !== undefined) checkChunk(chunk, encoding)\n',
      put: '',
    },
    {
      name: 'a response that cannot be sent ends the process',
      find: '        state.destroy.call(this, error as Error)\n',
      put: '        throw error\n',
    },
    {
      name: 'an error is answered with the length of what it replaces',
      find: '  if (state.head && state.head.status !== response.statusCode) state.head = undefined\n',
      put: '',
    },
  ]),
]

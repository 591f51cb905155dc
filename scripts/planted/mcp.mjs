/** Defects in what an MCP server's answers are taken for, and in the status check that a contract names. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/adapters/mcp', 'test/mcp')

export const mcp = [
  ...at('guard.ts', 'list-gone', [
    {
      name: 'a call without a key is sent before it is known which arguments count',
      find: "    if (rung === 'arguments' && call.listed === 'not told') return notTold(name)\n",
      put: '    void notTold\n',
    },
  ]),
  ...at('catalogue.ts', 'list-gone', [
    {
      name: 'a list that broke off is taken for the whole list',
      find: 'if (!page) return false',
      put: 'if (!page) return true',
    },
  ]),
  ...at('status-check.ts', 'status-answers', [
    {
      name: 'a status tool that failed is believed',
      find: "reply.result['isError'] !== true ?",
      put: "reply.result['isError'] !== 1 ?",
    },
    {
      name: 'an answer that nobody declared is taken for found',
      find: 'if (isFound === isAbsent) return',
      put: 'if (isFound && isAbsent) return',
    },
    {
      name: 'a status tool is asked by a reason that was worded anew',
      find: "fingerprint(withOnly('one'), identity) === fingerprint(withOnly('another'), identity)",
      put: "fingerprint(withOnly('one'), identity) === fingerprint(withOnly('another'))",
    },
  ]),
  ...at('checked.ts', 'status-check', [
    {
      name: 'an answer that comes while the check is asked is overlooked',
      find: 'return came && { found: true, value: given.outcomeOf(came) }',
      put: 'return undefined',
    },
    {
      name: 'a gateway that takes over does not ask what the dead one did',
      find: 'return { ...policy, recovery }',
      put: 'return policy',
    },
  ]),
  ...at('guard.ts', 'own-server', [
    {
      name: 'a failed result that says nothing is kept as the outcome',
      find: "if (result['isError'] !== true || onError === 'rejected') return result",
      put: "if (result['isError'] !== true || onError !== 'not-executed') return result",
    },
    {
      name: 'a failed result that did nothing is held',
      find: "  if (onError === 'not-executed') throw new PassedOn(reply)\n",
      put: '',
    },
    {
      name: 'a call that was taken back is sent all the same',
      find: "if (call.isWithdrawn()) throw new NotExecuted('the client took it back before it was sent')\n",
      put: '',
    },
  ]),
  ...at('stdio-gateway.ts', 'everything', [
    {
      name: 'a client that is killed takes the gateway and its write with it',
      find: "output.removeAllListeners('error').on(",
      put: 'output.on(',
    },
  ]),
  ...at('events.ts', 'results', [
    {
      name: 'a result with a line separator in it is no result',
      find: '(.*)$/s',
      put: '(.*)$/',
    },
  ]),
  ...at('guard.ts', 'results', [
    {
      name: 'what a person said of a held call is taken for the result of a server',
      find: 'const result = resultOf(value)\n',
      put: 'const result = value as JsonObject\n',
    },
  ]),
  ...at('http-gateway.ts', 'results', [
    {
      name: 'all browsers are one caller to the gateway',
      find: 'if (given === null) return',
      put: 'if (!given) return',
    },
  ]),
  {
    name: 'whoever has an X-API-Key is shown the results of all others',
    file: 'src/guards/http/credentials.ts',
    tests: ['test/mcp/results.test.ts'],
    find: "header('x-api-key') ?? ''",
    put: "''",
  },
  ...at('relay.ts', 'ids', [
    {
      name: 'a write takes the answer of another request for its own',
      find: " || (method === 'tools/call' && passed.has(id))",
      put: '',
    },
  ]),
  ...at('guard-transport.ts', 'ids', [
    {
      name: 'a server that throws at its end ends the process',
      find: 'quietly(() => closed?.())',
      put: 'closed?.()',
    },
  ]),
  ...at('http-gateway.ts', 'ids', [
    {
      name: 'programs that count alike are turned away',
      find: " && request.headers.has('mcp-session-id')",
      put: '',
    },
  ]),
  ...at('http-upstream.ts', 'ids', [
    {
      name: 'an answer without a body keeps its connection',
      find: 'if (!hasBody) response.resume()',
      put: '',
    },
  ]),
]

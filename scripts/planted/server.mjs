/** Defects in the modes of the server that stand between somebody's clients and somebody's API. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/server', 'test/server')

export const server = [
  ...at('server.ts', 'stop', [
    {
      name: 'a stop cuts off the answers that are on their way out',
      find: 'Listener.prototype.close.call(server)',
      put: 'server.close()',
    },
  ]),
  ...at('routes/events.ts', 'stop', [
    {
      name: 'a stream is written to behind its end',
      find: '    quiet()\n    if',
      put: '    if',
    },
  ]),
  ...at('end-with-key.ts', 'keys', [
    {
      name: 'a stream outlives the key that opened it',
      find: 'if (!isGood && !outgoing.writableEnded && !outgoing.destroyed) end()',
      put: '',
    },
  ]),
  ...at('mcp.ts', 'mcp', [
    {
      name: 'whoever listens to a tool server goes on listening when the key is revoked',
      find: "if (incoming.method === 'GET')",
      put: "if (incoming.method === 'TRACE')",
    },
    {
      name: 'a call that was asked for under a good key is cut off when the key is revoked',
      find: "if (incoming.method === 'GET')",
      put: 'if (incoming.method)',
    },
  ]),
  ...at('routes/held.ts', 'claims', [
    {
      name: 'whoever resolves a receipt is whoever the request says',
      find: "by: signed(textOf(item, 'by'), principal)",
      put: "by: textOf(item, 'by') || signed('', principal)",
    },
    {
      name: 'a resolution that nobody puts a name to is signed by a key alone',
      find: "return by.trim() === '' ? by : ",
      put: 'return ',
    },
  ]),
  ...at('limits.ts', 'limits', [
    {
      name: 'a quota does not count the claims that are under way',
      find: 'writtenToday(tenant) + before >= quotaPerDay',
      put: 'writtenToday(tenant) >= quotaPerDay',
    },
  ]),
  ...at('routes/receipts.ts', 'limits', [
    {
      name: 'keys for every tenant share one rate where many receipts are looked up',
      find: 'at.limits.spend(whoseLimit(principal), receipts.length)',
      put: 'at.limits.spend(principal.tenant, receipts.length)',
    },
  ]),
  ...at('forward.ts', 'smuggling', [
    {
      name: 'a body is passed on without a word of where it ends',
      find: "['host', host, ...framing, ...headers]",
      put: "['host', host, ...headers]",
    },
    {
      name: 'a client names away what says whose request it is',
      find: '|| OF_THE_MEANING.test(name)',
      put: '',
    },
  ]),
  ...at('framing.ts', 'smuggling', [
    {
      name: 'a connection is used again while a body is still on its way',
      find: 'if (!request.writableFinished) useNoMore(request, answer)',
      put: 'if (answer.aborted) useNoMore(request, answer)',
    },
  ]),
  ...at('proxy.ts', 'proxy', [
    {
      name: 'browsers that have nothing but cookies are one caller',
      find: 'if (given === undefined) throw onlyCookie()',
      put: 'if (given === undefined) return proxyTenant',
    },
  ]),
  ...at('ingress.ts', 'ingress', [
    {
      name: "a vendor's own key goes along beside ours",
      find: "  'ibid-event-id',\n  'idempotency-key',",
      put: "  'ibid-event-id',",
    },
    {
      name: 'a server that stops goes on delivering',
      find: "if (stopping.isStopping) throw new Stopped('the server stops; the next delivery is the next try')",
      put: '',
    },
  ]),
]

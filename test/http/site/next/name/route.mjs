/** The site of the table on Next.js: one dynamic route, with a guard for each name. */
import { attemptOf, idempotent } from 'ibid/next'
import { carryOut, ibid, optionsOf, receiptsOf } from '../../bank.mjs'

async function handle(request) {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === '/receipts') return new Response(await receiptsOf(searchParams.get('tenant')))
  const sent = new Uint8Array(await request.arrayBuffer())
  const echoed = request.headers.get('idempotency-replayed')
  const { status, headers, body, pieces } = await carryOut(request.url, sent, echoed, attemptOf(request))
  return new Response(pieces ? ReadableStream.from(pieces) : (body ?? null), { status, headers })
}

const options = optionsOf((request, name) => request.headers.get(name) ?? undefined)
const guarded = new Map(Object.entries(options).map(([path, o]) => [path, idempotent(ibid, o)(handle)]))

function serve(request, context) {
  const found = guarded.get(new URL(request.url).pathname)
  return found ? found(request, context) : handle(request)
}

export {
  serve as DELETE,
  serve as GET,
  serve as HEAD,
  serve as OPTIONS,
  serve as PATCH,
  serve as POST,
  serve as PUT,
}

/** A route of the site on Next.js; `PATH` is put in its place before it is built. */
import { attemptOf, idempotent } from 'ibid/next'
import { carryOut, ibid, optionsOf } from '../../bank.mjs'

const guard = idempotent(ibid, optionsOf((request, name) => request.headers.get(name) ?? undefined)['PATH'])

const handle = guard(async (request) => {
  const sent = new Uint8Array(await request.arrayBuffer())
  const echoed = request.headers.get('idempotency-replayed')
  const { status, headers, body, pieces } = await carryOut(request.url, sent, echoed, attemptOf(request))
  return new Response(pieces ? ReadableStream.from(pieces) : (body ?? null), { status, headers })
})

export const GET = handle
export const HEAD = handle
export const OPTIONS = handle
export const POST = handle
export const PUT = handle
export const PATCH = handle
export const DELETE = handle

/** What the store holds for a tenant. */
import { receiptsOf } from '../../bank.mjs'

export async function GET(request) {
  return new Response(await receiptsOf(new URL(request.url).searchParams.get('tenant')))
}

/**
 * The chain of keys that led to a run: webhook, message, run, step, each a link. It is handed on explicitly, because
 * it has to cross queues and processes, where nothing that lives in one process's memory would follow. What comes out
 * of a message is data: it is checked, and it names no tenant, so that it cannot point into another one's receipts.
 */
import { invalidIntent } from '../../core/errors.js'
import { checkAddress } from '../../core/intent.js'

/** One receipt on the way, of the same tenant. */
export interface Link {
  readonly scope: string
  readonly key: string
}

const MOST_LINKS = 32
const LONGEST_TEXT = 16_384

/** Whatever has a scope and a key can be a link: an attempt, a receipt, a step. */
export function linkOf(link: Link): Link {
  const { scope, key } = link ?? ({} as Link)
  checkAddress({ tenant: 'any', scope, key })
  return { scope, key }
}

export function checkChain(links: readonly Link[]): readonly Link[] {
  if (!Array.isArray(links) || links.length > MOST_LINKS) {
    throw invalidIntent(
      'the chain of keys is not a list of links, or has too many',
      `give via as up to ${MOST_LINKS} links of { scope, key }`,
    )
  }
  return links.map(linkOf)
}

/** For a header of a message or a request: ASCII only. */
export function encodeChain(links: readonly Link[]): string {
  const text = JSON.stringify(checkChain(links).map(({ scope, key }) => [scope, key]))
  return Buffer.from(text).toString('base64url')
}

/** The chain out of a header; none where there is no header or it holds something else. */
export function decodeChain(header: string | undefined): readonly Link[] {
  if (header === undefined || header.length > LONGEST_TEXT) return []
  try {
    const pairs = JSON.parse(Buffer.from(header, 'base64url').toString()) as readonly [string, string][]
    return checkChain(pairs.map(([scope, key]) => ({ scope, key })))
  } catch {
    return []
  }
}

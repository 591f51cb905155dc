/**
 * GitHub, on `@octokit/webhooks-methods`. Only the body is signed: delivery id, event name and time are not. So the
 * body is part of what must be the same when an id comes again. JSON and form bodies are both read.
 */
import { onlyKnown } from '../../core/known.js'
import { type DedupBy, readDedup } from './dedup.js'
import { library } from './library.js'
import { digestOf } from './mac.js'
import { readSecret, type Secret } from './secret.js'
import { malformed, MIB, parseJson, refused, type Source } from './source.js'

export interface GithubOptions {
  readonly secret: Secret
  /**
   * What makes two deliveries one event. `delivery` (default): GitHub's delivery id, which a redelivery keeps.
   * `body`: the signed bytes, so that a recorded body sent again under another id is a duplicate as well; events
   * that are alike to the byte, as two equal `workflow_dispatch` are, then count as one.
   */
  readonly dedupBy?: DedupBy
}

const SIGNATURE = /^sha256=[0-9a-f]{64}$/
/** GitHub's own limit. */
const MAX_BYTES = 25 * MIB

const load = library('@octokit/webhooks-methods', () => import('@octokit/webhooks-methods'))

export function github<P = unknown>(options: GithubOptions): Source<P> {
  onlyKnown(options, ['secret', 'dedupBy'], 'github')
  const secretsOf = readSecret('github', options?.secret)
  const dedupBy = readDedup('github', options.dedupBy)
  return {
    name: 'github',
    waitMs: 8_000,
    maxBytes: MAX_BYTES,
    async verify({ url, headers, body, text }) {
      const signature = headers.get('x-hub-signature-256')
      if (signature === null || !SIGNATURE.test(signature)) {
        return refused('x-hub-signature-256 is missing or malformed')
      }
      if (!text) return refused('the body is empty or not UTF-8')
      const secrets = await secretsOf({ url, headers })
      const { verify } = await load()
      const fits = await Promise.all(secrets.map((secret) => verify(secret, text, signature)))
      if (!fits.includes(true)) return refused('the signature fits no secret')
      const payload = parseJson(isForm(headers) ? (new URLSearchParams(text).get('payload') ?? '') : text)
      const digest = digestOf(body)
      const id = dedupBy === 'body' ? digest : headers.get('x-github-delivery')
      if (!id || payload === undefined)
        return malformed('it has no x-github-delivery, or its body is no JSON')
      const type = headers.get('x-github-event') ?? undefined
      return { kind: 'event', id, type, payload: payload as P, identity: { body: digest } }
    },
  }
}

function isForm(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') ?? false
}

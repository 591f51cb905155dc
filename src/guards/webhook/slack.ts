/**
 * Slack: the Events API, and with it slash commands and interactions. Slack keeps no small library for Node that only
 * verifies, so this is node:crypto. Its first request, `url_verification`, is answered here and handled by nobody.
 */
import type { Duration } from '../../core/duration.js'
import { onlyKnown } from '../../core/known.js'
import { anyOf, digestOf, freshness, mac, same } from './mac.js'
import { readSecret, type Secret } from './secret.js'
import { malformed, MIB, parseJson, refused, type Source, textAt, type Verdict } from './source.js'

export interface SlackOptions {
  /** The app's signing secret, not a token. */
  readonly secret: Secret
  /** Default 5 minutes, to both sides. */
  readonly tolerance?: Duration
}

const SIGNATURE = /^v0=[0-9a-f]{64}$/

export function slack<P = unknown>(options: SlackOptions): Source<P> {
  onlyKnown(options, ['secret', 'tolerance'], 'slack')
  const secretsOf = readSecret('slack', options?.secret)
  const isFresh = freshness(options.tolerance)
  return {
    name: 'slack',
    // Slack hangs up after three seconds.
    waitMs: 2_000,
    maxBytes: MIB,
    silent: true,
    async verify({ url, headers, body, text, nowMs }) {
      const signature = headers.get('x-slack-signature')
      const stamp = headers.get('x-slack-request-timestamp')
      if (signature === null || !SIGNATURE.test(signature)) return refused('x-slack-signature is malformed')
      if (stamp === null || !isFresh(stamp, nowMs)) return refused('the timestamp is outside the tolerance')
      if (text === undefined) return refused('the body is not UTF-8')
      const secrets = await secretsOf({ url, headers })
      const isSigned = anyOf(secrets, (secret) =>
        same(signature, `v0=${mac('sha256', secret, [`v0:${stamp}:`, body], 'hex')}`),
      )
      if (!isSigned) return refused('the signature fits no secret')
      const payload = parseJson(text)
      return payload === undefined ? interaction(text, stamp) : eventOf(payload)
    },
  }
}

function eventOf<P>(payload: unknown): Verdict<P> {
  const challenge = textAt(payload, 'challenge')
  if (textAt(payload, 'type') === 'url_verification' && challenge !== undefined) {
    return { kind: 'challenge', answer: challenge }
  }
  const id = textAt(payload, 'event_id')
  if (id === undefined) return malformed('the event has no event_id')
  const inner = (payload as { readonly event?: unknown }).event
  const type = textAt(inner, 'type') ?? textAt(payload, 'type')
  return { kind: 'event', id, type, payload: payload as P, identity: { id, type: type ?? null } }
}

/** Slash commands and interactions have no event id and are not repeated: what was signed is what they are. */
function interaction<P>(text: string, stamp: string): Verdict<P> {
  const form = new URLSearchParams(text)
  const inner = form.get('payload')
  const payload = inner === null ? Object.fromEntries(form) : parseJson(inner)
  if (payload === undefined || !(form.has('payload') || form.has('command'))) {
    return malformed('it is neither an event, nor a command, nor an interaction')
  }
  const type = textAt(payload, 'type') ?? textAt(payload, 'command')
  const digest = digestOf(`${stamp}:`, text)
  return { kind: 'event', id: digest, type, payload: payload as P, identity: { body: digest } }
}

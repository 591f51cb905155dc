/** Defects in what webhooks believe, take for the same event, and tell the vendor. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src/guards/webhook', 'test/webhook')

export const webhook = [
  ...at('mac.ts', 'signatures', [
    {
      name: 'a signature of the right length is good enough',
      find: 'return a.length === b.length && timingSafeEqual(a, b)',
      put: 'return a.length === b.length',
    },
    {
      name: 'timestamps from the future are believed',
      find: 'Math.abs(nowMs - Number(stamp) * unitMs) <= toleranceMs',
      put: 'nowMs - Number(stamp) * unitMs <= toleranceMs',
    },
  ]),
  ...at('stripe.ts', 'signatures', [
    {
      name: 'a misspelt option of a source is passed over',
      find: "  onlyKnown(options, ['secret', 'tolerance'], 'stripe')\n",
      put: '',
    },
  ]),
  ...at('stripe.ts', 'vendors', [
    {
      name: 'the age of one timestamp is judged, the signature of another',
      find: 'HEADER.exec(header)?.[1]',
      put: String.raw`/t=(\d+)/.exec(header)?.[1]`,
    },
  ]),
  ...at('body.ts', 'signatures', [
    {
      name: 'the body is repaired before it is verified',
      find: '{ fatal: true, ignoreBOM: true }',
      put: '{ fatal: false, ignoreBOM: true }',
    },
  ]),
  ...at('options.ts', 'once', [
    {
      name: 'a misspelt option of a webhook is passed over',
      find: "  onlyKnown(options, KNOWN, 'a webhook')\n",
      put: '',
    },
  ]),
  ...at('hmac.ts', 'once', [
    {
      name: 'a tolerance is taken without a timestamp to hold it against',
      find: 'options.tolerance !== undefined && !options.timestamp',
      put: "options.tolerance === 'never'",
    },
  ]),
  ...at('dedup.ts', 'once', [
    {
      name: 'a misspelt dedupBy is the id that nobody signed',
      find: "if (given === 'delivery' || given === 'body') return given",
      put: "if (given !== undefined) return given === 'body' ? given : 'delivery'",
    },
  ]),
  ...at('body.ts', 'mounted', [
    {
      name: 'a timer is left of a body that somebody else has read',
      find: 'await read.finally(() => clearTimeout(timer))',
      put: 'await read\n  clearTimeout(timer)',
    },
  ]),
  ...at('execute.ts', 'failures', [
    {
      name: 'an answer that cannot be made is told as an event that was not handled',
      find: 'return await answerOf(() => respond(done.value, event), settings, event)',
      put: 'return await respond(done.value, event)',
    },
    {
      name: 'an event that another attempt took over is told as not handled',
      find: "!own && code === 'LEASE_LOST'",
      put: "code === 'NEVER'",
    },
  ]),
  ...at('webhook.ts', 'once', [
    {
      name: "an event that is nobody's goes to the default tenant",
      find: "if (typeof owner !== 'string' || owner === '') {",
      put: "if (owner === '') {",
    },
  ]),
  ...at('webhook.ts', 'force', [
    {
      name: 'a forced run is taken for a duplicate',
      find: 'where = await recordForce(ibid, where, forced)',
      put: 'await recordForce(ibid, where, forced)',
    },
  ]),
  ...at('options.ts', 'once', [
    {
      name: 'two endpoints of one vendor share receipts',
      find: '`hook:${source.name}/${endpoint}`',
      put: '`hook:${source.name}`',
    },
  ]),
  ...at('execute.ts', 'once', [
    {
      name: 'a running event is acknowledged, and lost when it fails',
      find: "inFlight === 'accept' ?",
      put: "inFlight !== 'retry' ?",
    },
    {
      name: 'another body under the same id passes for a duplicate',
      find: 'payload: identity }',
      put: 'payload: null }',
    },
  ]),
  ...at('execute.ts', 'failures', [
    {
      name: "an error of the handler's own receipt is taken for one of the event's",
      find: 'return failed(settings, event, error, error === thrown)',
      put: 'return failed(settings, event, error, false)',
    },
  ]),
  ...at('handoff.ts', 'hand-off', [
    {
      name: 'every hand-off of an event has a key of its own',
      find: "layer: 'webhook', scope, id }",
      put: "layer: 'webhook', scope, id, at: Date.now() + Math.random() }",
    },
  ]),
]

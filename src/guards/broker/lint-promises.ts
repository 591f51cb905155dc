/** What a contract promises about its effect, held against its own class and against what the downstream gives. */
import { toMs } from '../../core/duration.js'
import type { Contract } from './contract.js'
import type { Read, Rule } from './lint.js'
import { leaseForSettling } from './terms.js'

const DAY_MS = 86_400_000
const IRREVERSIBLE_LEAST_MS = 7 * DAY_MS
const WRITE_FACTS = [
  'window',
  'lease',
  'downstream',
  'requiresHumanOnRetry',
  'check',
  'undo',
  'resource',
  'value',
] as const
const WRITE_VERBS =
  /^(?:create|delete|remove|send|pay|refund|charge|cancel|update|insert|write|post|transfer|issue)(?:_|-|\.|[A-Z]|$)/

const acceptsKey = ({ downstream }: Contract): boolean => downstream?.acceptsKey === true
const inDays = (ms: number): string => `${Number((ms / DAY_MS).toFixed(2))} d`

export const promiseRules: readonly Rule[] = [
  {
    level: 'error',
    code: 'WINDOW_BEYOND_DOWNSTREAM',
    breach: ({ contract, terms }) => {
      const honoured = downstreamWindowMs(contract)
      return (
        acceptsKey(contract) &&
        honoured !== undefined &&
        terms.windowMs > honoured &&
        `it promises to recognise a duplicate for ${inDays(terms.windowMs)}, and the downstream forgets the key after ${inDays(honoured)}`
      )
    },
    remedy: 'shorten window to downstream.window at most',
  },
  {
    level: 'error',
    code: 'WINDOW_WITHOUT_KEY',
    breach: ({ contract }) =>
      contract.downstream?.window !== undefined &&
      !acceptsKey(contract) &&
      'it says how long the downstream remembers a key, and not that it takes one',
    remedy: 'set downstream.acceptsKey: true if it does, or take downstream.window away',
  },
  {
    level: 'error',
    code: 'IRREVERSIBLE_UNGUARDED',
    breach: ({ contract }) =>
      contract.effect === 'irreversible' &&
      !acceptsKey(contract) &&
      !contract.check &&
      !contract.requiresHumanOnRetry &&
      'the effect cannot be undone, and there is no downstream key, no status check and no person to tell whether it happened',
    remedy: 'add downstream.acceptsKey, a check, or requiresHumanOnRetry: true',
  },
  {
    level: 'error',
    code: 'IRREVERSIBLE_WINDOW_SHORT',
    breach: ({ contract, terms }) =>
      contract.effect === 'irreversible' &&
      terms.windowMs < IRREVERSIBLE_LEAST_MS &&
      `the effect cannot be undone, and a duplicate is recognised for ${inDays(terms.windowMs)} only`,
    remedy: 'give window 7 to 30 days',
  },
  {
    level: 'error',
    code: 'IRREVERSIBLE_WITH_UNDO',
    breach: ({ contract }) =>
      contract.effect === 'irreversible' && contract.undo && 'it is called irreversible and has an undo',
    remedy: 'call it write-non-idempotent, or take undo away',
  },
  {
    level: 'error',
    code: 'READ_WITH_WRITE_FACTS',
    breach: ({ contract }) => {
      const facts = WRITE_FACTS.filter((fact) => contract[fact] !== undefined)
      return (
        contract.effect === 'read' &&
        facts.length > 0 &&
        `it is called a read and declares ${facts.join(', ')}`
      )
    },
    remedy: 'give it the class of a write, or take those fields away: a read is never recorded',
  },
  {
    level: 'warning',
    code: 'READ_NAMED_LIKE_WRITE',
    breach: ({ contract }) =>
      contract.effect === 'read' &&
      WRITE_VERBS.test(contract.name) &&
      `it is called a read, so nothing is recorded, and its name is ${contract.name}`,
    remedy: 'make sure that it changes nothing',
  },
  {
    level: 'error',
    code: 'IDEMPOTENT_WITHOUT_RESOURCE',
    breach: ({ contract }) =>
      contract.effect === 'write-idempotent' &&
      contract.resource === undefined &&
      'it says that repeating it does no harm, and not which argument names the thing that stays the same',
    remedy: 'name the argument in resource, or call it write-non-idempotent',
  },
  {
    level: 'error',
    code: 'RESOURCE_NOT_REQUIRED',
    breach: ({ contract, fields, required }) => {
      const name = typeof contract.resource === 'string' ? contract.resource.split('.')[0] : undefined
      return (
        name !== undefined &&
        fields !== undefined &&
        !(fields.has(name) && required.includes(name)) &&
        `resource names ${name}, which is not a required argument: without it every call would be about nothing`
      )
    },
    remedy: 'name a required argument in resource',
  },
  {
    level: 'error',
    code: 'RESOURCE_ON_ANOTHER_CLASS',
    breach: ({ contract, terms }) =>
      terms.receipted &&
      contract.resource !== undefined &&
      `only write-idempotent tools are keyed by their resource`,
    remedy: 'take resource away, or call it write-idempotent if repeating it does no harm',
  },
  {
    level: 'error',
    code: 'HUMAN_WITHOUT_RECORD',
    breach: ({ contract }) =>
      contract.effect === 'write-idempotent' &&
      contract.requiresHumanOnRetry &&
      'a person is to decide about a second attempt, and no record is kept that could wait for one',
    remedy: 'call it write-non-idempotent, or take requiresHumanOnRetry away',
  },
  {
    level: 'error',
    code: 'HUMAN_BUT_RETRIES',
    breach: ({ contract }) =>
      contract.requiresHumanOnRetry &&
      (contract.retry?.attempts ?? 1) > 1 &&
      'a person is to decide about a second attempt, and it retries by itself',
    remedy: 'take retry away, or requiresHumanOnRetry',
  },
  {
    level: 'error',
    code: 'TRIES_BEYOND_LEASE',
    breach: ({ terms }) =>
      terms.receipted &&
      terms.attempts * terms.timeoutMs > terms.leaseMs &&
      `${terms.attempts} tries of ${terms.timeoutMs} ms do not fit into a lease of ${terms.leaseMs} ms`,
    remedy: 'lengthen lease, shorten timeout, or lower retry.attempts',
  },
  {
    level: 'error',
    code: 'LEASE_BEFORE_SETTLED',
    breach: (read) => trustsTooEarly(read) && tooEarly(read),
    remedy: 'make lease one and a half times downstream.settles (default: timeout) at least',
  },
  {
    level: 'error',
    code: 'WINDOW_BEFORE_LEASE',
    breach: ({ terms }) =>
      terms.receipted &&
      terms.windowMs < terms.leaseMs &&
      `a result is forgotten after ${terms.windowMs} ms, before a crashed attempt would be noticed (${terms.leaseMs} ms)`,
    remedy: 'make window longer than lease; a day at least, for most writes',
  },
  {
    level: 'warning',
    code: 'DOWNSTREAM_WINDOW_UNKNOWN',
    breach: ({ contract }) =>
      acceptsKey(contract) &&
      contract.downstream?.window === undefined &&
      'it does not say how long the downstream remembers a key, so nobody can tell whether window is honoured',
    remedy: 'state downstream.window as the downstream documents it',
  },
  {
    level: 'warning',
    code: 'NO_WAY_TO_KNOW',
    breach: ({ contract, terms }) =>
      terms.receipted &&
      !acceptsKey(contract) &&
      !contract.check &&
      'there is no downstream key and no status check: every time-out waits for a person',
    remedy: 'add a check, or hand call.key to a downstream that takes it',
  },
  {
    level: 'warning',
    code: 'NO_RIGHT_NEEDED',
    breach: ({ contract }) =>
      contract.effect !== 'read' &&
      contract.scope === undefined &&
      'anybody who can reach the broker may call this write',
    remedy: 'name the right that a caller must have in scope',
  },
]

function downstreamWindowMs({ downstream }: Contract): number | undefined {
  return downstream?.window === undefined ? undefined : toMs(downstream.window, 'downstream.window')
}

/** After a crash, "not found" is believed as soon as the lease has lapsed. */
function trustsTooEarly({ contract, terms }: Read): boolean {
  const believes = terms.receipted && contract.check !== undefined && !terms.repeatable && !terms.human
  return believes && terms.leaseMs < leaseForSettling(terms.settlesMs)
}

function tooEarly({ terms }: Read): string {
  const { settlesMs, leaseMs } = terms
  return `after a crash the check is believed in ${leaseMs} ms, and the downstream may take ${settlesMs} ms`
}

/**
 * The same arguments under different keys within seconds: a retry that minted a new key, which no receipt can stop.
 * Where both were executed, that is a pair of effects. Intents without a payload all look alike and are left out.
 */
import type { AuditEvent } from '../../core/audit.js'
import { addressId } from '../../core/receipt.js'
import { fingerprint } from '../../key/index.js'
import { createTally, type Detector } from './finding.js'

interface Claim {
  readonly key: string
  readonly at: number
  readonly id: string
  succeeded: boolean
  /** Claims of the same arguments, close by, under other keys. */
  readonly twins: Claim[]
  readonly event: AuditEvent
}

const SAYING_NOTHING = new Set([undefined, null, '', {}, []].map((payload) => fingerprint(payload)))

export function newKeys(withinMs: number): Detector {
  const byArguments = new Map<string, Claim[]>()
  const open = new Map<string, Claim>()
  const sameArguments = createTally('same-arguments-new-key', 'warning')
  const pairs = createTally('effect-pair', 'error')

  function claimed(event: AuditEvent): void {
    const group = JSON.stringify([event.tenant, event.scope, event.fingerprint])
    const recent = (byArguments.get(group) ?? []).filter(({ at }) => event.at - at <= withinMs)
    const twins = recent.filter(({ key }) => key !== event.key)
    const claim = { key: event.key, at: event.at, id: addressId(event), succeeded: false, twins, event }
    const nearest = twins.at(-1)
    if (nearest) sameArguments.add(event, exampleOf(nearest, claim))
    byArguments.delete(group)
    byArguments.set(group, [...recent, claim])
    open.set(claim.id, claim)
    forget(event.at)
  }

  /** Only what is recent can have a twin. What was last touched stands last. */
  function forget(now: number): void {
    for (const [group, claims] of byArguments) {
      if (now - (claims.at(-1)?.at ?? 0) <= withinMs) return
      byArguments.delete(group)
      for (const { id, twins } of claims) if (twins.length === 0) open.delete(id)
    }
  }

  function succeeded(event: AuditEvent): void {
    const claim = open.get(addressId(event))
    if (!claim || claim.succeeded) return
    claim.succeeded = true
    for (const twin of claim.twins) if (twin.succeeded) pairs.add(event, exampleOf(twin, claim))
    // The earlier one of a pair may be the later one to end.
    for (const later of byArguments.get(JSON.stringify([event.tenant, event.scope, event.fingerprint])) ??
      []) {
      if (later.succeeded && later.twins.includes(claim)) pairs.add(event, exampleOf(claim, later))
    }
  }

  return {
    see(event) {
      if (SAYING_NOTHING.has(event.fingerprint)) return
      if (event.event === 'claimed') claimed(event)
      else if (event.state === 'succeeded' && (event.event === 'settled' || event.event === 'resolved'))
        succeeded(event)
    },
    findings: () => [
      ...pairs.findings(({ count, scope }) => ({
        message: `${count} times two keys of ${scope} executed the same arguments within ${withinMs / 1_000} s: two effects where one may have been meant`,
        remedy:
          'look the pairs up downstream, undo what is double, and make the key where the first retry can happen; store it with the step',
      })),
      ...sameArguments.findings(({ count, scope }) => ({
        message: `${count} times the same arguments came under another key of ${scope} within ${withinMs / 1_000} s: a retry that makes a new key`,
        remedy:
          'make the key once per step, before the first try, and hand it down unchanged; deriveKey makes one out of run, step and arguments',
      })),
    ],
  }
}

function exampleOf(first: Claim, second: Claim): Readonly<Record<string, string | number>> {
  return { key: first.key, otherKey: second.key, apartMs: Math.round(second.at - first.at), at: second.at }
}

/**
 * Windows against retries. A key that was settled, forgotten, and claimed again with the same arguments was executed
 * twice: its window was shorter than the distance of its retry. A distance that comes near the window is a warning.
 */
import type { AuditEvent } from '../../core/audit.js'
import { addressId } from '../../core/receipt.js'
import { createTally, type Detector } from './finding.js'

interface Life {
  readonly claimedAt: number
  readonly epoch: number
  readonly fingerprint: string
  succeededAt: number | undefined
  /** The one before, where that had succeeded with the same arguments. */
  readonly before: Life | undefined
}

export interface WindowDetector extends Detector {
  /** False: there were more receipts than can be followed, and later ones were not. */
  readonly complete: boolean
}

const MOST_FOLLOWED = 1_000_000
const NEAR = 0.5

/** `windowMs` by scope, as far as it is known: the shortest one that its receipts have. */
export function windows(windowMs: ReadonlyMap<string, number>): WindowDetector {
  const lives = new Map<string, Life>()
  const farthest = new Map<string, { event: AuditEvent; ms: number }>()
  const again = createTally('executed-after-window', 'error')
  const pairs = createTally('effect-pair', 'error')
  const near = createTally('window-near-retry', 'warning')
  let complete = true

  function claimed(event: AuditEvent): void {
    const id = addressId(event)
    const last = lives.get(id)
    if (!last && lives.size >= MOST_FOLLOWED) {
      complete = false
      return
    }
    const { at, epoch, fingerprint, key } = event
    const wasDone =
      last?.succeededAt !== undefined && last.epoch !== epoch && last.fingerprint === fingerprint
    const life = {
      claimedAt: at,
      epoch,
      fingerprint,
      succeededAt: undefined,
      before: wasDone ? last : undefined,
    }
    lives.set(id, life)
    if (wasDone) again.add(event, { key, afterMs: Math.round(at - last.claimedAt), at })
  }

  function succeeded(event: AuditEvent): void {
    const life = lives.get(addressId(event))
    if (!life || life.epoch !== event.epoch || life.succeededAt !== undefined) return
    life.succeededAt = event.at
    const { before } = life
    if (before)
      pairs.add(event, {
        key: event.key,
        apartMs: Math.round(event.at - (before.succeededAt ?? 0)),
        at: event.at,
      })
  }

  function duplicate(event: AuditEvent): void {
    const life = lives.get(addressId(event))
    if (!life) return
    const ms = event.at - life.claimedAt
    if (ms > (farthest.get(event.scope)?.ms ?? 0)) farthest.set(event.scope, { event, ms })
  }

  function nearFindings() {
    for (const [scope, { event, ms }] of farthest) {
      const window = windowMs.get(scope)
      if (window !== undefined && ms > window * NEAR) {
        near.add(event, { key: event.key, retryMs: Math.round(ms), windowMs: window, at: event.at })
      }
    }
    return near.findings(({ scope }) => ({
      message: `retries of ${scope} come after more than half of its window: the next one may come after it, and execute`,
      remedy: 'make the window longer: ibid plan --store gives the shortest safe one',
    }))
  }

  return {
    get complete() {
      return complete
    },
    see(event) {
      if (event.event === 'claimed') claimed(event)
      else if (event.event === 'takeover') moved(lives, event)
      else if (event.event === 'dedup_hit' || event.event === 'in_flight') duplicate(event)
      else if (event.state === 'succeeded') succeeded(event)
    },
    findings: () => [
      ...pairs.findings(({ count, scope }) => ({
        message: `${count} keys of ${scope} succeeded twice, the second time after the first was forgotten`,
        remedy:
          'look them up downstream, undo what is double, and make the window longer than the farthest retry',
      })),
      ...again.findings(({ count, scope }) => ({
        message: `${count} keys of ${scope} were executed again after their window had ended: it is shorter than the distance of the retries`,
        remedy:
          'make the window longer than the farthest retry: ibid plan --store gives the shortest safe one',
      })),
      ...nearFindings(),
    ],
  }
}

/** A takeover has a new epoch, and is still the same life. */
function moved(lives: Map<string, Life>, event: AuditEvent): void {
  const life = lives.get(addressId(event))
  if (life) lives.set(addressId(event), { ...life, epoch: event.epoch })
}
